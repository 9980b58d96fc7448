"""Records of model calls that name the span around their calls.

An instrumentation that does not make its own span the current one emits the messages of a call in the context that is
around it, so that the records of all calls of a turn name one server or workflow span. A record is that call's during
which it was emitted; an answer may come just after. This is only said where no doubt is left: calls directly under that
span, one after the other, none with a message of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from collector.assembly.merge import settle
from collector.operation import EventMessage, Operation, OperationKind


def settled(operations: Iterable[Operation]) -> list[Operation]:
    """Merged operations with their records made message lists, each record at the call that it is of."""
    every = list(operations)
    changed = _given_back(every) if any(_is_asked_within(operation) for operation in every) else {}
    return [settle(changed.get(id(operation), operation)) for operation in every]


def _is_asked_within(operation: Operation) -> bool:
    return any(not event.is_output for event in operation.events)


def _given_back(every: Sequence[Operation]) -> dict[int, Operation]:
    """By identity: the operations that lose records, and the calls that get them."""
    within: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for operation in every:
        if operation.kind is OperationKind.MODEL_CALL and operation.parent_span_id:
            within[operation.trace_id, operation.parent_span_id].append(operation)
    changed: dict[int, Operation] = {}
    for outer in every:
        calls = within.get((outer.trace_id, outer.span_id), [])
        if not calls or not _is_asked_within(outer):
            continue
        calls = _without_inner_twins(sorted(calls, key=lambda call: (call.start_ns, -call.end_ns, call.span_id)))
        given = _by_call(outer.events, calls) if _can_be_told_apart(calls) else None
        if given is None:
            continue
        changed[id(outer)] = _without_records(outer)
        for call, events in zip(calls, given, strict=True):
            changed[id(call)] = replace(call, events=tuple(events))
    return changed


def _without_inner_twins(calls: Sequence[Operation]) -> list[Operation]:
    """Without what a client's own tracer tells of a call that another one tells of around it."""
    kept: list[Operation] = []
    for call in calls:
        last = kept[-1] if kept else None
        if last is None or call.scope == last.scope or call.end_ns > last.end_ns:
            kept.append(call)
    return kept


def _can_be_told_apart(calls: Sequence[Operation]) -> bool:
    ends = [0, *(call.end_ns for call in calls)]
    in_a_row = all(call.start_ns >= end for call, end in zip(calls, ends, strict=False))
    return in_a_row and not any(call.events or call.output or call.input is not None for call in calls)


def _by_call(events: Iterable[EventMessage], calls: Sequence[Operation]) -> list[list[EventMessage]] | None:
    """None where something was asked outside of every call."""
    found: list[list[EventMessage]] = [[] for _ in calls]
    starts = [call.start_ns for call in calls]
    for event in events:
        index = bisect_right(starts, event.time_ns) - 1
        if index < 0 or (not event.is_output and event.time_ns > calls[index].end_ns):
            return None
        found[index].append(event)
    return found


def _without_records(outer: Operation) -> Operation:
    """A span that only its records made a model call is none."""
    is_call = outer.kind is OperationKind.MODEL_CALL and bool(outer.model or outer.response_id or outer.usage)
    kind = OperationKind.OTHER if outer.kind is OperationKind.MODEL_CALL and not is_call else outer.kind
    return replace(outer, events=(), kind=kind)
