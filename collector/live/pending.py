"""Spans of traces in which no GenAI telemetry was seen so far, as received, within a bound in bytes and in age.

Most telemetry of a service has nothing to do with an agent, so these spans are not even parsed. When their trace shows
GenAI telemetry they join it; when they get too old or too many, the oldest go. The journal is read again from the
oldest waiting span after a restart, so waiting in memory loses nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from collector.journal.protocol import Position
from collector.operation import Operation

_ITEM_BYTES = 150
"""What an item takes beside its bytes, about."""


@dataclass(frozen=True, slots=True)
class RawSpan:
    """A span that was not parsed, with the resource and scope it came under."""

    resource: bytes
    scope: bytes
    span: bytes


Pending = RawSpan | Operation


@dataclass(slots=True)
class _Record:
    position: Position
    arrived_ns: int
    traces: list[str]
    bytes: int


class PendingSpans:
    def __init__(self, *, max_bytes: int, max_age_s: float) -> None:
        self._max_bytes = max_bytes
        self._max_age_ns = int(max_age_s * 1e9)
        self._items: dict[str, list[Pending]] = {}
        self._records: deque[_Record] = deque()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        return self._bytes

    def oldest_position(self) -> Position | None:
        """Where the journal must be read from so that every waiting span is read again."""
        return self._records[0].position if self._records else None

    def add(self, position: Position, *, arrived_ns: int, items: dict[str, list[Pending]]) -> None:
        """The waiting items of one journal record, by trace."""
        size = 0
        for trace, waiting in items.items():
            known = self._items.get(trace)
            if known is None:
                self._items[trace] = waiting
            else:
                known.extend(waiting)
            for item in waiting:
                size += _ITEM_BYTES + (len(item.span) if isinstance(item, RawSpan) else 2 * _ITEM_BYTES)
        self._records.append(_Record(position=position, arrived_ns=arrived_ns, traces=list(items), bytes=size))
        self._bytes += size

    def of(self, trace: str) -> list[Pending]:
        return self._items.get(trace, [])

    def discard(self, trace: str) -> None:
        # The record keeps its estimate until it goes: bounds are upper bounds.
        self._items.pop(trace, None)

    def clear(self) -> None:
        self._items.clear()
        self._records.clear()
        self._bytes = 0

    def expire(self, now_ns: int) -> int:
        """Drop what is too old or too much, whole records oldest first; how many items went."""
        gone = 0
        while self._records and (
            self._bytes > self._max_bytes or now_ns - self._records[0].arrived_ns > self._max_age_ns
        ):
            record = self._records.popleft()
            self._bytes -= record.bytes
            for trace in record.traces:
                # A trace that goes on in a younger record goes as a whole: half a tree is no better than none.
                gone += len(self._items.pop(trace, ()))
        return gone
