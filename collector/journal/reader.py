"""One named cursor's view of the journal, from any process: what is durable, in order, damage stepped over and
counted.

Reads no further than the writer's mark (`mark.py` holds the reasoning), so it works beside a running writer, a
stopped one and one that has not started yet. Where records are gone, damaged or deleted, reading goes on at the
next one, and the jump in their ids is counted as lost. Delivery is at least once: after a restart reading begins at
the last commit. Not thread-safe; one call at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog
import zstandard

from collector.clock import Clock
from collector.journal.aside import Aside
from collector.journal.cursor import Cursor
from collector.journal.files import Files, OsFiles
from collector.journal.lookup import find_record
from collector.journal.mark import MarkReader
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import JournalRecord, Position
from collector.journal.reading_place import ReadingPlace
from collector.journal.scan import Damage, FoundRecord
from collector.journal.settings import MIB
from collector.journal.slots import Slot

log = structlog.get_logger(__name__)

POLL_S = 0.02
"""A look at the mark costs two small preads; fifty a second are not noticeable."""


class JournalReader:
    """Implements `protocol.Reader`."""

    def __init__(
        self,
        directory: Path,
        name: str,
        *,
        clock: Clock,
        metrics: JournalMetrics,
        max_aside_bytes: int = 64 * MIB,
        files: Files | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Holds the cursor until `close`.

        Raises ValueError for a name that cannot be a file's, JournalLockedError where the cursor is held by another
        reader, JournalVersionError, and JournalUnavailableError where its file cannot be kept.
        """
        self._directory = directory
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._sleep = sleep
        self._files = files or OsFiles()
        self._aside = Aside(directory, files=self._files, max_bytes=max_aside_bytes)
        self._cursor = Cursor(directory, name, files=self._files, metrics=metrics, aside=self._aside)
        self._mark = MarkReader(directory, files=self._files)
        self._decompressor = zstandard.ZstdDecompressor()
        start = self._cursor.open()
        self._place = ReadingPlace(directory, start.position, files=self._files)
        self._next_record_id = start.next_record_id
        self._exhausted_mark: Position | None = None

    @property
    def committed(self) -> Position:
        return self._cursor.committed

    @property
    def position(self) -> Position:
        """Where the next read begins."""
        return self._place.position

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        """Bodies of at most `max_bytes` together, or one larger record. Raises JournalVersionError."""
        mark = self._mark.load()
        records: list[JournalRecord] = []
        size = 0
        while mark is not None and (step := self._place.step(mark.position)) is not None:
            # A new cursor may begin with damage: what it misses counts from the segment's first record on.
            self._next_record_id = self._next_record_id or self._place.first_record_id
            if isinstance(step, FoundRecord):
                if records and size + step.header.raw_bytes > max_bytes:
                    break
                record = self._take(step)
                if record is not None:
                    records.append(record)
                    size += len(record.body)
            else:
                self._pass_over(step)
        self._metrics.read_records.labels(self._name).inc(len(records))
        self._exhausted_mark = None if records or mark is None else mark.position
        return records

    def wait(self, *, timeout_s: float) -> bool:
        deadline_s = self._clock.monotonic_s() + timeout_s
        while not self._has_more():
            left_s = deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                return False
            self._sleep(min(POLL_S, left_s))
        return True

    def commit(self, position: Position) -> None:
        """Ignores a position at or before the committed one. Raises JournalUnavailableError where the disk refuses."""
        if position > self._place.position:
            raise ValueError(
                f"Journal cursor {self._name} cannot commit {position}: reading is at {self._place.position}."
            )
        if position <= self._cursor.committed:
            return
        self._cursor.commit(
            Slot(position=position, next_record_id=self._record_id_at(position), written_ns=self._clock.now_ns())
        )

    def close(self) -> None:
        self._place.close()
        self._mark.close()
        self._cursor.close()

    def _has_more(self) -> bool:
        mark = self._mark.load()
        # A mark whose records turned out to be gone must not keep a reader spinning.
        return mark is not None and self._place.position < mark.position != self._exhausted_mark

    def _take(self, found: FoundRecord) -> JournalRecord | None:
        header = found.header
        segment = self._place.position.segment
        try:
            body = (
                self._decompressor.decompress(found.payload, max_output_size=header.raw_bytes)
                if header.compressed
                else bytes(found.payload)
            )
        except zstandard.ZstdError:
            body = None
        if body is None or len(body) != header.raw_bytes:
            self._pass_over(Damage(found.offset, found.next_offset, "payload"))
            return None
        if self._next_record_id and header.record_id > self._next_record_id:
            lost = header.record_id - self._next_record_id
            self._metrics.lost_records.labels(self._name).inc(lost)
            log.error("journal records lost", cursor=self._name, records=lost, before=str(self._place.position))
        self._next_record_id = header.record_id + 1
        self._place.move_to(found.next_offset)
        return JournalRecord(
            position=Position(segment, found.offset),
            next_position=self._place.position,
            signal=header.signal,
            received_ns=header.received_ns,
            body=body,
        )

    def _pass_over(self, damage: Damage) -> None:
        size = damage.end - damage.start
        segment = self._place.position.segment
        self._metrics.corrupt.labels(damage.reason).inc()
        self._metrics.corrupt_bytes.labels(damage.reason).inc(size)
        log.error(
            "journal damage passed over",
            cursor=self._name,
            segment=segment,
            offset=damage.start,
            bytes=size,
            reason=damage.reason,
        )
        self._place.copy_aside(damage, self._aside)
        self._place.move_to(damage.end)

    def _record_id_at(self, position: Position) -> int:
        if position == self._place.position:
            return self._next_record_id
        header = find_record(self._directory, position, files=self._files)
        return 0 if header is None else header.record_id
