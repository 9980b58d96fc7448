"""Chats that ran side by side within one trace, where no id names them: a worker's trace over several users' messages.

Their histories tell them apart, and only where these leave no doubt: two or more chains of requests, all asked under
one prompt, in each of which a user spoke again after an answer of that very chain, and which have no list in common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from collector.assembly.evidence import MAX_NEEDS, replies_in, whole_of
from collector.assembly.said import system_of
from collector.operation import Operation, OperationKind, Role

_WRAPPERS = frozenset({OperationKind.AGENT, OperationKind.WORKFLOW})
_MIN_REQUESTS = 4
"""Two chats of two turns each; fewer prove nothing."""

_Prompt = tuple[str | None, frozenset[str], str | None]


@dataclass(slots=True)
class _Request:
    """An outermost operation that was told something, and everything under it."""

    operations: list[Operation]
    calls: list[Operation]

    @property
    def start_ns(self) -> int:
        return self.operations[0].start_ns


def chats_of(trace: Sequence[Operation]) -> list[list[Operation]]:
    """The operations of each chat, chats and operations in order of time; one list where it may be one chat."""
    one = [list(trace)]
    if sum(op.kind is OperationKind.MODEL_CALL for op in trace) < _MIN_REQUESTS:
        return one
    requests, rest = _requests(trace)
    if len(requests) < _MIN_REQUESTS:
        return one
    chain = _chained(requests)
    spoken: dict[int, int] = defaultdict(int)
    for index, request in enumerate(requests):
        spoken[chain[index]] += _is_asked(request)
    proven = [index for index, count in spoken.items() if count > 1]
    if len(proven) < 2 or len({_prompt(requests[index]) for index in proven}) > 1:
        return one
    found: dict[int, list[Operation]] = {index: [] for index in sorted(proven)}
    latest = min(found)
    found[latest] += rest
    for index, request in enumerate(requests):
        latest = chain[index] if chain[index] in found else latest
        found[latest] += request.operations
    return [sorted(operations, key=_order) for operations in found.values()]


def _order(operation: Operation) -> tuple[int, int, str]:
    return (operation.start_ns, -operation.end_ns, operation.span_id)


def _requests(trace: Sequence[Operation]) -> tuple[list[_Request], list[Operation]]:
    """What stands below nothing but spans that say nothing; and these spans."""
    known = {op.span_id for op in trace}
    below: dict[str, list[Operation]] = defaultdict(list)
    for op in trace:
        below[op.parent_span_id if op.parent_span_id in known and op.parent_span_id else ""].append(op)
    requests: list[_Request] = []
    rest: list[Operation] = []
    stack = list(below[""])
    while stack:
        op = stack.pop()
        if op.kind is OperationKind.OTHER or (op.kind in _WRAPPERS and op.input is None):
            rest.append(op)
            stack += below[op.span_id]
        else:
            requests.append(_request(op, below))
    return sorted(requests, key=lambda request: _order(request.operations[0])), rest


def _request(top: Operation, below: Mapping[str, Sequence[Operation]]) -> _Request:
    found: list[Operation] = []
    stack = [top]
    while stack:
        op = stack.pop()
        found.append(op)
        stack += below.get(op.span_id, ())
    calls = [op for op in found if op.kind is OperationKind.MODEL_CALL and op.input is not None and not op.is_internal]
    return _Request(found, sorted(calls, key=_order))


def _chained(requests: Sequence[_Request]) -> list[int]:
    """Of each request the first of its chain."""
    first = list(range(len(requests)))
    answered: dict[bytes, int] = {}
    for index, request in enumerate(requests):
        if request.calls:
            nodes = islice(replies_in(request.calls[0].input), MAX_NEEDS)
            known = next((answered[node.digest] for node in nodes if node.digest in answered), None)
            first[index] = index if known is None else first[known]
        for call in request.calls:
            whole = whole_of(call)
            if whole is not None:
                answered[whole.digest] = index
    return first


def _is_asked(request: _Request) -> bool:
    """A user's words are the last that its first call was sent."""
    sent = request.calls[0].input if request.calls else None
    return sent is not None and sent.message.role is Role.USER


def _prompt(request: _Request) -> _Prompt:
    call = request.calls[0]
    tools = frozenset(tool.name for tool in call.tool_definitions or ())
    return system_of(call), tools, call.agent.name if call.agent is not None else None
