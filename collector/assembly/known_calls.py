"""The calls that were gone through so far, in order of time, by what a later one may go on from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from collector.assembly.evidence import asked_ids, is_open, pending_key, reply_key, whole_of, without_calls
from collector.operation import Chain, Operation

Place = tuple[int, int, str, str]
"""In the order of time."""


def place_of(operation: Operation) -> Place:
    return (operation.start_ns, operation.end_ns, operation.trace_id, operation.span_id)


@dataclass(slots=True)
class KnownCall:
    """A call that another may go on from."""

    index: int
    """Of its unit."""
    operation: Operation
    whole: Chain | None
    asked: frozenset[str]
    """Ids of the tool calls that it asked for."""
    twin: tuple[int, str] | None = None
    is_answered: bool = False

    @classmethod
    def of(cls, index: int, operation: Operation) -> KnownCall:
        return cls(index, operation, whole_of(operation), frozenset(asked_ids(operation.output)))


@dataclass(slots=True)
class KnownCalls:
    """Each index is by service, and by digest or id."""

    lists: dict[tuple[str | None, bytes], list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    """By input and output together."""
    bare: dict[tuple[str | None, bytes], list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    """By what is left of a list whose last calls are left out."""
    opens: dict[tuple[str | None, bytes], list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    """By the input alone, where the output may be told otherwise in a replay."""
    calls: dict[tuple[str | None, str], list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    """By the tool calls asked for."""
    pending: dict[bytes, list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    replies: dict[tuple[str | None, bytes], list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[tuple[int, bytes], tuple[int, Operation]] = field(default_factory=dict)
    """Who went on from a unit's call first, by that unit and the digest of the list that it went on from."""
    response_ids: set[str] = field(default_factory=set)
    """Of every operation, and those that some name as the previous one."""
    latest: Place | None = None
    """The place of the last one in the order of time."""

    def add(self, call: KnownCall) -> None:
        operation = call.operation
        if call.whole is not None:
            self.lists[operation.service, call.whole.digest].append(call)
            for bare in without_calls(call.whole):
                self.bare[operation.service, bare.digest].append(call)
        if is_open(operation) and operation.input is not None:
            self.opens[operation.service, operation.input.digest].append(call)
        for call_id in call.asked:
            self.calls[operation.service, call_id].append(call)
        reply = reply_key(operation)
        if reply is not None:
            self.replies[operation.service, reply].append(call)
        pending = pending_key(operation)
        if pending is not None:
            self.pending[pending].append(call)
