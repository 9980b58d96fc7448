"""The files of a journal as its writer has them: the segment that is written, those before it, and where they end.

A segment is begun before the one before it is finished, so that where a disk has no room for a new file the old one
goes on. The mark says on disk where the records end that readers may see.
"""

from __future__ import annotations

import errno
from pathlib import Path
from random import Random

import structlog

from collector.clock import Clock
from collector.journal.aside import Aside
from collector.journal.cursor import cursors_directory
from collector.journal.files import Files
from collector.journal.mark import MARK_NAME, MarkWriter
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import OpenSegment
from collector.journal.protocol import Position
from collector.journal.recovery import recover
from collector.journal.segment import SEGMENT_HEADER_BYTES, SegmentHeader
from collector.journal.slots import Slot

log = structlog.get_logger(__name__)

_MAX_NUMBER_TRIES = 100


class Segments:
    """Errors of the disk are OSError here."""

    def __init__(self, directory: Path, *, clock: Clock, metrics: JournalMetrics, files: Files, random: Random) -> None:
        self._directory = directory
        self._clock = clock
        self._metrics = metrics
        self._files = files
        self._random = random
        self._mark = MarkWriter(directory, files=files)
        self._next_segment = 1
        self._next_record_id = 1
        self.active: OpenSegment | None = None
        self.sizes: dict[int, int] = {}
        """Of the finished ones, by number."""
        self.end = Position(0, 0)
        """Where the records end that are on disk for good."""

    @property
    def disk_bytes(self) -> int:
        return sum(self.sizes.values()) + (self.active.end if self.active is not None else 0)

    @property
    def count(self) -> int:
        return len(self.sizes) + (self.active is not None)

    @property
    def has_unsynced(self) -> bool:
        return self.active is not None and self.active.synced_end < self.active.end

    def recover(self, *, max_aside_bytes: int) -> None:
        """Find what is there; the mark stays open, to be closed by `close`."""
        cursors_directory(self._directory).mkdir(exist_ok=True)
        aside = Aside(self._directory, files=self._files, max_bytes=max_aside_bytes)
        try:
            mark = self._mark.open()
        except OSError:
            self._mark.close()
            self._metrics.corrupt.labels("mark").inc()
            aside.move(self._directory / MARK_NAME, reason="mark")
            mark = self._mark.open()
        found = recover(self._directory, mark=mark, files=self._files, metrics=self._metrics, aside=aside)
        self.sizes = dict(found.sizes)
        self.end = found.end
        self._next_segment = found.next_segment
        self._next_record_id = found.next_record_id
        if found.end.segment:
            self._publish()

    def begin(self) -> OpenSegment:
        """The next segment is the one that is written from now on."""
        for _ in range(_MAX_NUMBER_TRIES):
            header = SegmentHeader(
                number=self._next_segment,
                first_record_id=self._next_record_id,
                salt=self._random.getrandbits(64),
                created_ns=self._clock.now_ns(),
            )
            self._next_segment += 1
            try:
                segment = OpenSegment.create(self._directory, header, files=self._files)
            except FileExistsError:
                continue
            self.active = segment
            self.end = Position(header.number, segment.end)
            self._publish(sync=True)
            return segment
        raise FileExistsError(errno.EEXIST, "segment names are taken")

    def replace(self, active: OpenSegment) -> OpenSegment:
        begun = self.begin()
        active.close()
        self.sizes[active.header.number] = active.end
        return begun

    def synced(self, segment: OpenSegment) -> None:
        """What is written to it is on disk, and readers may see it."""
        self.end = Position(segment.header.number, segment.end)
        self._next_record_id = segment.next_record_id
        self._publish()

    def give_up(self, segment: OpenSegment, *, keep_unsynced: bool) -> bool:
        """Nothing more is written to it. False where nothing is in it, so that it can be deleted."""
        if keep_unsynced and self.has_unsynced:
            unsynced = segment.next_record_id - segment.synced_next_record_id
            self._metrics.relaxed_unsynced.inc(unsynced)
            log.error("journal records not synced", segment=segment.header.number, records=unsynced)
        segment.give_up(keep_unsynced=keep_unsynced)
        self._next_record_id = segment.next_record_id
        self.active = None
        if segment.end <= SEGMENT_HEADER_BYTES:
            return False
        self.sizes[segment.header.number] = segment.end
        return True

    def close(self) -> None:
        if self.active is not None:
            self.active.close()
            self.active = None
        self._mark.close()

    def _publish(self, *, sync: bool = False) -> None:
        self._mark.publish(
            Slot(position=self.end, next_record_id=self._next_record_id, written_ns=self._clock.now_ns()), sync=sync
        )
