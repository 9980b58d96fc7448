"""Journal records for tests, and a reader over a list of them that keeps its cursor as the real one does."""

from __future__ import annotations

from collections.abc import Sequence

from collector.journal.protocol import JournalRecord, Position
from collector.telemetry.records import Signal


class RecordedJournal:
    """Append bodies, read them from any number of cursors. `committed` is what a restart begins from."""

    def __init__(self) -> None:
        self.records: list[JournalRecord] = []

    def append(self, body: bytes, *, received_ns: int, signal: Signal = Signal.TRACES) -> JournalRecord:
        offset = self.records[-1].next_position.offset if self.records else 0
        record = JournalRecord(
            position=Position(1, offset),
            next_position=Position(1, offset + len(body) + 24),
            signal=signal,
            received_ns=received_ns,
            body=body,
        )
        self.records.append(record)
        return record

    def after(self, position: Position | None) -> list[JournalRecord]:
        start = position or Position(0, 0)
        return [record for record in self.records if record.position >= start]


class RecordedReader:
    """Implements `collector.journal.protocol.Reader` over a `RecordedJournal`."""

    def __init__(self, journal: RecordedJournal, *, committed: Position | None = None) -> None:
        self.committed = committed or Position(0, 0)
        self._journal = journal
        self._place = self.committed

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        found: list[JournalRecord] = []
        size = 0
        for record in self._journal.after(self._place):
            if found and size + len(record.body) > max_bytes:
                break
            found.append(record)
            size += len(record.body)
        if found:
            self._place = found[-1].next_position
        return found

    def wait(self, *, timeout_s: float) -> bool:
        return bool(self._journal.after(self._place))

    def commit(self, position: Position) -> None:
        self.committed = position

    def close(self) -> None:
        pass
