"""A trace cut into the parts that belong to one conversation each, and what names that conversation.

Nearly every trace is one unit. Only where its spans name different conversations (a worker's trace over many jobs), or
their histories prove several (`side_by_side`), is it cut: a span belongs to the conversation that itself, its nearest
ancestor, or else its first descendant names.
What happens under a tool call belongs to the conversation of the call, whatever a sub-agent calls its own. Of several
kinds of ids in a trace the surest counts for the whole of it. Where two services send different spans under the same
ids, the trace is cut by service: it is two traces that happen to have one id. An id that is in truth the response id of
another call (some frameworks put the previous response there) is no conversation id; it is read as a reference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from collector.assembly.around import settled
from collector.assembly.lineage import all_above, from_above
from collector.assembly.memo import Memo
from collector.assembly.side_by_side import chats_of
from collector.model import ConversationIdSource
from collector.operation import Operation, OperationKind

RESOURCE_RANK = 90
CHAT_RANK = 95
"""Of a name that was made for one of several chats in a trace."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Operations of one trace and one conversation."""

    trace_id: str
    service: str | None
    operations: tuple[Operation, ...]
    conversation_id: str | None
    source: ConversationIdSource | None
    start_ns: int
    is_whole: bool = True
    """It is all that its trace holds."""

    @property
    def order(self) -> tuple[int, str, str]:
        return (self.start_ns, self.trace_id, self.conversation_id or "")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The operations of one trace, merged, and the ids in them."""

    operations: tuple[Operation, ...]
    response_ids: frozenset[str]
    conversation_ids: frozenset[str]

    @classmethod
    def of(cls, operations: Iterable[Operation]) -> Trace:
        every = tuple(settled(operations))
        return cls(
            operations=every,
            response_ids=frozenset(op.response_id for op in every if op.response_id),
            conversation_ids=frozenset(op.conversation_id for op in every if op.conversation_id is not None),
        )


def traces_of(operations: Iterable[Operation]) -> list[Trace]:
    return [Trace.of(trace) for trace in by_trace(operations)]


def by_trace(operations: Iterable[Operation]) -> list[tuple[Operation, ...]]:
    found: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        found[operation.trace_id].append(operation)
    return [tuple(trace) for trace in found.values()]


def units_of(traces: Sequence[Trace], *, known: Memo[list[Unit]] | None = None) -> list[Unit]:
    """All units of these traces, in order of time."""
    known = known if known is not None else Memo()
    response_ids: frozenset[str] = frozenset().union(*[trace.response_ids for trace in traces])
    units: list[Unit] = []
    for trace in traces:
        false_ids = trace.conversation_ids & response_ids
        units += known.of((trace,), partial(_units_of_id, trace, false_ids), under=false_ids)
    return sorted(units, key=lambda unit: unit.order)


def units_by_trace(units: Iterable[Unit]) -> list[tuple[Unit, ...]]:
    found: dict[str, tuple[Unit, ...]] = {}
    for unit in units:
        found[unit.trace_id] = (*found.get(unit.trace_id, ()), unit)
    return list(found.values())


def operations_of(units: Iterable[Unit]) -> Iterator[Operation]:
    for unit in units:
        yield from unit.operations


def _units_of_id(same_id: Trace, response_ids: Collection[str]) -> list[Unit]:
    own = [_without_false_id(operation, response_ids) for operation in same_id.operations]
    units = [unit for trace in _by_service(own) for unit in _units_of_trace(trace)]
    return units if len(units) == 1 else [replace(unit, is_whole=False) for unit in units]


def _by_service(trace: list[Operation]) -> list[list[Operation]]:
    if len({operation.span_id for operation in trace}) == len(trace):
        return [trace]
    found: dict[str | None, list[Operation]] = defaultdict(list)
    for operation in trace:
        found[operation.service].append(operation)
    return list(found.values())


def _without_false_id(operation: Operation, response_ids: Collection[str]) -> Operation:
    if operation.conversation_id is None or operation.conversation_id not in response_ids:
        return operation
    previous = operation.previous_response_id
    if previous is None and operation.conversation_id != operation.response_id:
        previous = operation.conversation_id
    return replace(operation, conversation_id=None, conversation_id_rank=99, previous_response_id=previous)


def _units_of_trace(trace: Sequence[Operation]) -> list[Unit]:
    ordered = sorted(trace, key=lambda op: (op.start_ns, -op.end_ns, op.span_id))
    named = [op for op in ordered if op.conversation_id is not None]
    if not named:
        return _side_by_side(ordered)
    best = min(op.conversation_id_rank for op in named)
    own = {op.span_id: op.conversation_id for op in named if op.conversation_id_rank == best and op.conversation_id}
    if len(set(own.values())) > 1:
        own = _without_called(ordered, own)
    if len(ids := set(own.values())) == 1:
        return [_unit(ordered, next(iter(ids)))]
    return [_unit(group, name) for name, group in _partition(ordered, own).items()]


def _side_by_side(ordered: Sequence[Operation]) -> list[Unit]:
    """Chats that no id tells apart: the first is named by the trace, as it would be alone, the others after it."""
    first, *others = chats_of(ordered)
    if not others:
        return [_unit(ordered, None)]
    by_id = {op.span_id: op for op in ordered}
    units = [_unit(_without_parents_elsewhere(first, by_id), None)]
    for chat in others:
        name = f"{chat[0].trace_id}-{chat[0].span_id}"
        own = _without_parents_elsewhere(chat, by_id)
        units.append(_unit([replace(op, conversation_id=name, conversation_id_rank=CHAT_RANK) for op in own], name))
    return units


def _without_called(ordered: Sequence[Operation], own: Mapping[str, str]) -> dict[str, str]:
    """Without the names of what a tool call of a named conversation did."""

    def step(above: Operation, state: tuple[bool, bool]) -> tuple[bool, bool]:
        """Whether there is a tool call, and whether the outermost one or anything above it is named."""
        is_called, is_named = state
        return state if is_called else (above.kind is OperationKind.TOOL, is_named or above.span_id in own)

    called = from_above(ordered, {op.span_id: op for op in ordered}, step, (False, False))
    return {span_id: name for span_id, name in own.items() if called[span_id] != (True, True)}


def _partition(ordered: Sequence[Operation], own: Mapping[str, str]) -> dict[str, list[Operation]]:
    by_id = {op.span_id: op for op in ordered}
    from_below: dict[str, str] = {}
    for op in ordered:
        name = own.get(op.span_id)
        if name is not None:
            for above in all_above((op,), by_id):
                if above.span_id in from_below:
                    break
                from_below[above.span_id] = name
    nearest: dict[str, str | None] = from_above(ordered, by_id, lambda above, name: own.get(above.span_id, name), None)
    groups: dict[str, list[Operation]] = defaultdict(list)
    fallback = next(iter(own.values()))
    for op in ordered:
        groups[own.get(op.span_id) or nearest[op.span_id] or from_below.get(op.span_id) or fallback].append(op)
    return {name: _without_parents_elsewhere(group, by_id) for name, group in groups.items()}


def _without_parents_elsewhere(group: Sequence[Operation], by_id: Mapping[str, Operation]) -> list[Operation]:
    """A parent that another conversation has is not missing."""
    inside = {op.span_id for op in group}
    return [
        replace(op, parent_span_id="") if op.parent_span_id in by_id and op.parent_span_id not in inside else op
        for op in group
    ]


def _unit(operations: Sequence[Operation], conversation_id: str | None) -> Unit:
    genai = [op for op in operations if op.kind is not OperationKind.OTHER] or list(operations)
    first = min(genai, key=lambda op: (op.start_ns or op.end_ns, -op.end_ns, op.span_id))
    return Unit(
        trace_id=operations[0].trace_id,
        service=first.service,
        operations=tuple(operations),
        conversation_id=conversation_id,
        source=_source(genai, conversation_id) if conversation_id is not None else None,
        start_ns=first.start_ns,
    )


def _source(genai: Sequence[Operation], conversation_id: str) -> ConversationIdSource:
    """Where the model calls of the unit have the id from; the outermost operation's where there is no call."""
    if all(op.conversation_id_rank == CHAT_RANK for op in genai):
        return ConversationIdSource.HISTORY
    calls = [op for op in genai if op.kind is OperationKind.MODEL_CALL] or list(genai[:1])
    if any(op.conversation_id == conversation_id and op.conversation_id_rank < RESOURCE_RANK for op in calls):
        return ConversationIdSource.ATTRIBUTE
    by_id = {op.span_id: op for op in genai}
    if any(above.conversation_id == conversation_id for above in all_above(calls, by_id)):
        return ConversationIdSource.ANCESTOR
    if any(op.conversation_id_rank >= RESOURCE_RANK for op in genai if op.conversation_id == conversation_id):
        return ConversationIdSource.RESOURCE
    return ConversationIdSource.TRACE
