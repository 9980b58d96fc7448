"""Fragments of one operation to one operation: a span and its log records, in any order, any number of times.

`merge` is commutative, associative and idempotent: every field is decided by the values alone (the fuller, else the
smaller by a fixed order), sets are united. `settle` then turns events into message lists, which is only right once all
fragments are there; it is idempotent as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from collector.messages.digests import extend
from collector.messages.values import canonical
from collector.model import Agent, GapKind
from collector.operation import Chain, EventMessage, Message, Operation, OperationKind, Usage

T = TypeVar("T")

_KIND_ORDER = (
    OperationKind.TOOL,
    OperationKind.HANDOFF,
    OperationKind.AGENT,
    OperationKind.WORKFLOW,
    OperationKind.RETRIEVAL,
    OperationKind.MODEL_CALL,
    OperationKind.OTHER,
)
"""A tool or agent span whose log record looks like a model call's is still a tool or agent span."""
_CONTENT_GAPS = {GapKind.UNDECODABLE, GapKind.CONTENT_ELSEWHERE}


def merge(fragments: Iterable[Operation]) -> Operation:
    """The operation that the fragments, all of one trace and span id, are parts of."""
    merged: Operation | None = None
    for fragment in fragments:
        merged = fragment if merged is None or merged is fragment else _both(merged, fragment)
    if merged is None:
        raise ValueError("No fragment was given; at least one is needed to make an operation.")
    return merged


class Fragments:
    """Fragments as they arrive, to one operation a span.

    Ids are only unique within one system. Where two services send different spans under the same trace and span id,
    each has an operation of its own; what says the same of a span, or only adds to it, belongs to it whoever sent it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str | None], Operation] = {}

    def add(self, fragment: Operation) -> None:
        key = (fragment.trace_id, fragment.span_id, fragment.service)
        known = self._known.get(key)
        self._known[key] = fragment if known is None else merge((known, fragment))

    def operations(self) -> list[Operation]:
        by_span: dict[tuple[str, str], list[Operation]] = defaultdict(list)
        for (trace_id, span_id, _), operation in self._known.items():
            by_span[trace_id, span_id].append(operation)
        return [op for same in by_span.values() for op in (same if len(same) == 1 else _of_services(same))]


def merged(fragments: Iterable[Operation]) -> list[Operation]:
    """One operation a span, from all the fragments of some traces."""
    found = Fragments()
    for fragment in fragments:
        found.add(fragment)
    return found.operations()


def _of_services(operations: Sequence[Operation]) -> list[Operation]:
    """One operation for each different span, with the records of services that sent no span given to the first."""
    spans: dict[tuple[int, int, str], list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.start_ns or operation.end_ns:
            spans[operation.start_ns, operation.end_ns, operation.name].append(operation)
    records = [operation for operation in operations if not (operation.start_ns or operation.end_ns)]
    if not spans:
        return [merge(records)]
    first, *others = sorted(spans)
    return [merge((*spans[first], *records)), *(merge(spans[key]) for key in others)]


def settle(operation: Operation) -> Operation:
    """Messages that came one record each become input and output, where no whole list did."""
    changes: dict[str, Any] = {}
    if operation.events:
        sent = [event.message for event in operation.events if not event.is_output]
        given = [event.message for event in operation.events if event.is_output]
        if operation.input is None and sent:
            changes["input"] = extend(None, sent)
        if given and not any(message.parts for message in operation.output):
            changes["output"] = tuple(given)
        changes["events"] = ()
    has_input = operation.input is not None or "input" in changes
    has_output = bool(operation.output) or "output" in changes
    if has_input and has_output and _CONTENT_GAPS & set(operation.gaps):
        changes["gaps"] = tuple(gap for gap in operation.gaps if gap not in _CONTENT_GAPS)
    return replace(operation, **changes) if changes else operation


def _both(one: Operation, two: Operation) -> Operation:
    conversation = min(_conversation(one), _conversation(two))
    sent = max(((op.input, op.input_is_delta) for op in (one, two)), key=_input_weight)
    called = max(((op.has_arguments, op.arguments) for op in (one, two)), key=_value_weight)
    returned = max(((op.has_result, op.result) for op in (one, two)), key=_value_weight)
    return Operation(
        trace_id=one.trace_id,
        span_id=one.span_id,
        dialect="+".join(sorted({part for op in (one, two) for part in op.dialect.split("+") if part})),
        kind=min(one.kind, two.kind, key=_KIND_ORDER.index),
        name=_text(one.name, two.name) or "",
        parent_span_id=_parent(one.parent_span_id, two.parent_span_id),
        start_ns=min((time for time in (one.start_ns, two.start_ns) if time), default=0),
        end_ns=max(one.end_ns, two.end_ns),
        service=_text(one.service, two.service),
        scope=_text(one.scope, two.scope) or "",
        resource=max(one.resource, two.resource, key=lambda value: (value is not None, canonical(dict(value or {})))),
        conversation_id=conversation[1] or None,
        conversation_id_rank=conversation[0],
        response_id=_text(one.response_id, two.response_id),
        previous_response_id=_text(one.previous_response_id, two.previous_response_id),
        model=_text(one.model, two.model),
        provider=_text(one.provider, two.provider),
        agent=max(one.agent, two.agent, key=_agent_weight),
        system_instructions=_text(one.system_instructions, two.system_instructions),
        tool_definitions=max(
            one.tool_definitions, two.tool_definitions, key=lambda value: (len(value or ()), repr(value))
        ),
        input=sent[0],
        input_is_delta=sent[1],
        output=max(one.output, two.output, key=_output_weight),
        events=_events(one.events, two.events),
        tool_name=_text(one.tool_name, two.tool_name),
        call_id=_text(one.call_id, two.call_id),
        arguments=called[1],
        result=returned[1],
        has_arguments=called[0],
        has_result=returned[0],
        from_agent=_text(one.from_agent, two.from_agent),
        to_agent=_text(one.to_agent, two.to_agent),
        is_error=one.is_error or two.is_error,
        error=_text(one.error, two.error),
        usage=_usage(one.usage, two.usage),
        is_internal=one.is_internal or two.is_internal,
        gaps=tuple(sorted({*one.gaps, *two.gaps})),
        is_stand_in=one.is_stand_in and two.is_stand_in,
    )


def _conversation(operation: Operation) -> tuple[int, str]:
    return (operation.conversation_id_rank, operation.conversation_id or "")


def _text(one: str | None, two: str | None) -> str | None:
    """The longer; of equal length the greater. None and "" say nothing."""
    return max(one, two, key=lambda value: (len(value or ""), value or "", value is not None))


def _parent(one: str | None, two: str | None) -> str | None:
    """A named parent, else a known root (""), else not known."""
    return max(one, two, key=lambda value: (value is not None, value or ""))


def _input_weight(sent: tuple[Chain | None, bool]) -> tuple[int, int, bytes, bool, str]:
    chain, is_delta = sent
    if chain is None:
        return (0, 0, b"", is_delta, "")
    return (chain.length, -len(chain.message.gaps), chain.digest, is_delta, repr(chain.message))


def _output_weight(output: tuple[Message, ...]) -> tuple[int, int, str]:
    return (sum(len(message.parts) for message in output), -sum(len(m.gaps) for m in output), repr(output))


def _value_weight(value: tuple[bool, Any]) -> tuple[bool, int, bytes, str]:
    size = canonical(value[1]) if value[1] is not None else b""
    return (value[0], len(size), size, repr(value[1]))


def _agent_weight(agent: Agent | None) -> tuple[int, str]:
    if agent is None:
        return (-1, "")
    return (sum(value is not None for value in (agent.name, agent.id, agent.version)), repr(agent))


def _usage(one: Usage | None, two: Usage | None) -> Usage | None:
    if one is None or two is None:
        return one or two
    return Usage(
        input_tokens=_most(one.input_tokens, two.input_tokens),
        output_tokens=_most(one.output_tokens, two.output_tokens),
    )


def _most(one: int | None, two: int | None) -> int | None:
    return max((value for value in (one, two) if value is not None), default=None)


def _events(one: tuple[EventMessage, ...], two: tuple[EventMessage, ...]) -> tuple[EventMessage, ...]:
    """By time, then by position within the request. The same record sent again is the same event."""
    known: dict[tuple[int, bytes, bool], EventMessage] = {}
    for event in (*one, *two):
        key = (event.time_ns, event.message.digest, event.is_output)
        before = known.get(key)
        if before is None or (event.position, repr(event.message)) < (before.position, repr(before.message)):
            known[key] = event
    return tuple(sorted(known.values(), key=lambda e: (e.time_ns, e.position, e.message.digest, e.is_output)))
