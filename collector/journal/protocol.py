"""What the rest of the collector knows of the journal, so that a Kafka topic can take the files' place.

Three verbs: append, read from a cursor, commit a cursor. A position is opaque, ordered, and survives restarts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from collector.telemetry.records import Signal


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a record starts. `Position(0, 0)` is before everything."""

    segment: int
    offset: int
    """Bytes from the start of the segment."""


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One received request: its signal, when it came, and its body as an OTLP protobuf Export*ServiceRequest."""

    position: Position
    next_position: Position
    """Where the record after this one starts: what a reader commits once it is done with this one."""
    signal: Signal
    received_ns: int
    body: bytes


class Appender(Protocol):
    async def append(self, signal: Signal, body: bytes) -> Position:
        """Return once the body is on disk.

        Raises JournalFullError when the bound in bytes is reached and JournalUnavailableError when the disk refuses.
        """


class Reader(Protocol):
    """One named, durable cursor. Several readers, in several processes, may read one journal."""

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        """The next records, at least one if there is any, from where the last read ended. Never blocks for new ones."""

    def wait(self, *, timeout_s: float) -> bool:
        """True as soon as there may be something new to read, False after the time."""

    def commit(self, position: Position) -> None:
        """Make durable that everything before this position is done with; a restart reads on from there."""

    def close(self) -> None: ...
