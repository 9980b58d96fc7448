"""Which traces belong to one conversation. Pure; never by time alone; the same groups in any order of arrival.

Within one service, the surest first:

1. the same conversation id;
2. a response id: a call that names the previous response, or whose conversation id is in truth a response id; and one
   call seen by two instrumentations in traces of their own (same response id, at the same time);
3. a tool-call id: a call's input holds a call or result that another call's output asked for;
4. history: a call's input begins with another call's whole input and output, or with the input of one that failed;
5. a history that is not the list that was sent (cut at its beginning, without tools or templates): the latest answer in
   it, and what it answers, are one call's and no other's.

A conversation id is never overruled: traces with different ids stay apart, a trace without one may join by 2 to 5.
A list that is known is continued once. A second continuation is another user's whose conversation began with the same
words (then either assignment gives the same text), or a retry: the same input again after a failure.

What joins by ids is here, what joins by messages is `continuation`; what live state must index so as to find the traces
that may belong together is `link_keys`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import is_

from collector.assembly.continuation import Continuation, join_latest
from collector.assembly.evidence import LINKING, is_id
from collector.assembly.known_calls import KnownCall, KnownCalls, place_of
from collector.assembly.unit_groups import UnitGroups, indexed_operations
from collector.assembly.units import Unit, traces_of, units_of
from collector.operation import Operation, OperationKind

_PLACED = LINKING | {OperationKind.TOOL}


def link(operations: Iterable[Operation]) -> list[tuple[Operation, ...]]:
    """The operations of each conversation, conversations in order of time. Operations are merged, one a span."""
    groups = Links().groups_of(units_of(traces_of(operations)))
    return [tuple(op for unit in units for op in unit.operations) for units in groups]


class Links:
    """What joins the units of a component, kept while it grows at its end."""

    def __init__(self) -> None:
        self._groups = UnitGroups(())
        self._known = KnownCalls()

    def groups_of(self, units: Sequence[Unit]) -> list[Sequence[Unit]]:
        """The units of each conversation, from all there are, which are in order of time."""
        if len({(unit.service, unit.conversation_id) for unit in units}) == 1 and units[0].conversation_id is not None:
            # Nothing is left to find out: one name joins them all, and nothing parts what has one name.
            self._groups, self._known = UnitGroups(()), KnownCalls()
            return [units]
        fresh = units[len(self._groups.units) :]
        if self._goes_on(units, fresh):
            self._groups.add(fresh)
        else:
            fresh = units
            self._groups, self._known = UnitGroups(units), KnownCalls()
            _by_conversation_id(self._groups)
            _by_response_id(self._groups)
        _by_messages(self._groups, fresh, self._known)
        return self._groups.members()

    def _goes_on(self, units: Sequence[Unit], fresh: Sequence[Unit]) -> bool:
        """Whether all is as it was but for units behind it that nothing but messages can join to anything."""
        known, before = self._known, self._groups.units
        if not before or len(units) < len(before) or not all(map(is_, units, before)):
            return False
        ids: list[str] = []
        for operation in (op for unit in fresh for op in unit.operations):
            if operation.response_id:
                ids.append(operation.response_id)
            is_behind = known.latest is None or (operation.kind not in _PLACED or place_of(operation) > known.latest)
            if operation.previous_response_id or not is_behind:
                return False
        is_named = any(unit.conversation_id is not None for unit in fresh)
        return not is_named and len(ids) == len(set(ids)) and known.response_ids.isdisjoint(ids)


def _by_conversation_id(groups: UnitGroups) -> None:
    known: dict[tuple[str | None, str], int] = {}
    for index, unit in enumerate(groups.units):
        if unit.conversation_id is not None:
            groups.join(known.setdefault((unit.service, unit.conversation_id), index), index)


def _by_response_id(groups: UnitGroups) -> None:
    known: dict[tuple[str | None, str], list[tuple[int, Operation]]] = defaultdict(list)
    for index, operation in indexed_operations(groups.units):
        if operation.response_id:
            known[operation.service, operation.response_id].append((index, operation))
    for twins in known.values():
        for position, (index, operation) in enumerate(twins):
            for other, twin in twins[position + 1 :]:
                if operation.start_ns <= twin.end_ns and twin.start_ns <= operation.end_ns:
                    groups.join(index, other)
    for index, operation in indexed_operations(groups.units):
        if operation.previous_response_id:
            answered = known.get((operation.service, operation.previous_response_id), [])
            earlier = [(other.start_ns, at) for at, other in answered if other.start_ns <= operation.start_ns]
            if earlier:
                groups.join(max(earlier)[1], index)


def _by_messages(groups: UnitGroups, fresh: Sequence[Unit], known: KnownCalls) -> None:
    """Calls in order of time: each looks for the one it goes on from among those that began before it.

    `fresh` are the last of all units; the others were gone through before, and so were their calls.
    """
    first = len(groups.units) - len(fresh)
    every = [(first + i, op) for i, op in indexed_operations(fresh) if op.kind in _PLACED]
    every.sort(key=lambda item: place_of(item[1]))
    for _, operation in indexed_operations(fresh):
        known.response_ids.update(one for one in (operation.response_id, operation.previous_response_id) if one)
    if every:
        known.latest = place_of(every[-1][1])
    for index, operation in every:
        if operation.kind is OperationKind.TOOL:
            if is_id(operation.call_id):
                join_latest(groups, index, known.calls.get((operation.service, operation.call_id or ""), []))
            continue
        Continuation(groups, known, index, operation).join()
        call = KnownCall.of(index, operation)
        _join_twin(groups, call, known)
        known.add(call)


def _join_twin(groups: UnitGroups, call: KnownCall, known: KnownCalls) -> None:
    """One call seen by two instrumentations: the same messages, another scope, at the same time, one twin a scope."""
    operation = call.operation
    same = known.lists.get((operation.service, call.whole.digest), []) if call.whole is not None else []
    taken = {other.twin for other in same}
    for other in reversed(same):
        twin = other.operation
        overlaps = operation.start_ns <= twin.end_ns and twin.start_ns <= operation.end_ns
        differ = bool(operation.response_id and twin.response_id and operation.response_id != twin.response_id)
        fits = overlaps and twin.scope != operation.scope and not differ and other.index != call.index
        if fits and (other.index, operation.scope) not in taken and groups.join(other.index, call.index):
            call.twin = (other.index, operation.scope)
            return
