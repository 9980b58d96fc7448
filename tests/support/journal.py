"""A journal in memory with durable cursors, for tests of what reads a journal. One record is one offset."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from collector.journal.protocol import JournalRecord, Position
from collector.telemetry.records import Signal


class MemoryJournal:
    """Outlives its readers, as a disk does: a new reader of the same name goes on where that name last committed."""

    def __init__(self, *, now_ns: int = 1_800_000_000_000_000_000) -> None:
        self.now_ns = now_ns
        self.commits: dict[str, list[Position]] = {}
        """Every commit by reader, oldest first."""
        self.fail_commits: OSError | None = None
        self.fail_reads: list[Exception] = []
        """Raised by the next reads, one each."""
        self._records: list[JournalRecord] = []
        self._changed = threading.Condition()

    async def append(self, signal: Signal, body: bytes) -> Position:
        return self.add(signal, body)

    def add(self, signal: Signal, body: bytes) -> Position:
        with self._changed:
            position = Position(0, len(self._records))
            self._records.append(
                JournalRecord(
                    position=position,
                    next_position=Position(0, len(self._records) + 1),
                    signal=signal,
                    received_ns=self.now_ns,
                    body=body,
                )
            )
            self._changed.notify_all()
        return position

    def reader(self, name: str) -> MemoryReader:
        return MemoryReader(self, name)

    def committed(self, name: str) -> Position:
        return self.commits.get(name, [Position(0, 0)])[-1]

    def _from(self, offset: int) -> list[JournalRecord]:
        with self._changed:
            return self._records[offset:]

    def _wait(self, offset: int, *, timeout_s: float) -> bool:
        deadline_s = time.monotonic() + timeout_s
        with self._changed:
            return self._changed.wait_for(lambda: len(self._records) > offset, deadline_s - time.monotonic())


class MemoryReader:
    def __init__(self, journal: MemoryJournal, name: str) -> None:
        self._journal = journal
        self._name = name
        self._offset = journal.committed(name).offset
        self.closed = False

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        if self._journal.fail_reads:
            raise self._journal.fail_reads.pop(0)
        taken: list[JournalRecord] = []
        for record in self._journal._from(self._offset):
            if taken and len(record.body) > max_bytes:
                break
            max_bytes -= len(record.body)
            taken.append(record)
            if max_bytes <= 0:
                break
        self._offset += len(taken)
        return taken

    def wait(self, *, timeout_s: float) -> bool:
        return self._journal._wait(self._offset, timeout_s=timeout_s)

    def commit(self, position: Position) -> None:
        if self._journal.fail_commits is not None:
            raise self._journal.fail_commits
        self._journal.commits.setdefault(self._name, []).append(position)

    def close(self) -> None:
        self.closed = True
