"""Appending, as the writer thread does it: synchronous, one caller at a time, no event loop.

A group is one write and, under full durability, one sync; then the mark moves and only then is anything
acknowledged. When the disk refuses a write, what it left is cut off again and the next group simply tries. When it
refuses a sync, the kernel may have dropped the pages and call them clean, so that a second sync would succeed
without them: the segment is given up and the next group begins a new one. Nothing that failed is acknowledged, and
no failure ends the log.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from random import Random

import structlog

from collector.clock import Clock
from collector.errors import JournalFullError, JournalUnavailableError
from collector.journal.aside import Aside
from collector.journal.compression import GroupCompression
from collector.journal.cursor import cursors_directory
from collector.journal.files import Files
from collector.journal.lock import JournalLock
from collector.journal.mark import MARK_NAME, MarkWriter
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry, OpenSegment
from collector.journal.protocol import Position
from collector.journal.recovery import recover
from collector.journal.retention import Retention
from collector.journal.segment import SEGMENT_HEADER_BYTES, SegmentHeader
from collector.journal.settings import JournalSettings
from collector.journal.slots import Slot

log = structlog.get_logger(__name__)

RETRY_AFTER_S = 1.0
_MAX_NUMBER_TRIES = 100


class SegmentLog:
    def __init__(
        self,
        settings: JournalSettings,
        *,
        cursors: Sequence[str],
        yielding: Sequence[str] = (),
        clock: Clock,
        metrics: JournalMetrics,
        files: Files,
        random: Random,
    ) -> None:
        self._settings = settings
        self._directory = settings.directory
        self._clock = clock
        self._metrics = metrics
        self._files = files
        self._random = random
        self._lock = JournalLock(self._directory)
        self._mark = MarkWriter(self._directory, files=files)
        self._retention = Retention(
            self._directory,
            cursors=cursors,
            yielding=yielding,
            yield_above_bytes=settings.yield_above_bytes,
            clock=clock,
            metrics=metrics,
            files=files,
        )
        self._compression = GroupCompression(settings.compression)
        self._active: OpenSegment | None = None
        self._sizes: dict[int, int] = {}
        self._end = Position(0, 0)
        self._next_segment = 1
        self._next_record_id = 1
        self._last_sync_s = clock.monotonic_s()
        self._is_short_of_space = False
        metrics.max_bytes.set(settings.max_bytes)

    @property
    def disk_bytes(self) -> int:
        return sum(self._sizes.values()) + (self._active.end if self._active is not None else 0)

    @property
    def has_unsynced(self) -> bool:
        return self._active is not None and self._active.synced_end < self._active.end

    def open(self) -> None:
        """Lock, recover, begin a segment. Raises JournalLockedError, JournalVersionError, JournalUnavailableError.

        A disk that is full is no reason not to open: the first append tries again.
        """
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            try:
                self._recover()
            except BaseException:
                self._mark.close()
                self._lock.release()
                raise
        except OSError as err:
            raise JournalUnavailableError(
                f"Journal {self._directory} cannot be opened ({err.strerror}); check the directory and the disk."
            ) from err
        try:
            self._begin_segment()
        except OSError as err:
            log.warning("journal segment not created", directory=str(self._directory), error=str(err))
        self.collect()

    def append(self, entries: Sequence[Entry]) -> Sequence[Position]:
        """All or none. Raises JournalFullError or JournalUnavailableError."""
        needed = sum(entry.max_stored_bytes for entry in entries)
        if self.disk_bytes + needed + SEGMENT_HEADER_BYTES > self._settings.max_bytes:
            self._is_short_of_space = True
            raise full_error(self._settings)
        segment = self._segment_for(needed)
        compress = self._compression.is_wanted(needed)
        began_s = self._clock.monotonic_s()
        group = segment.pack(entries, compression=self._compression if compress else None)
        try:
            segment.write(group)
        except OSError as err:
            self._take_back(segment)
            raise self._refused("write", err) from err
        if self._settings.durability == "full":
            self.sync()
        self._compression.observe(
            compressed=compress, raw_bytes=group.raw_bytes, seconds=self._clock.monotonic_s() - began_s
        )
        self._metrics.stored_bytes.inc(group.stored_bytes)
        self._metrics.group_records.observe(len(entries))
        self._metrics.disk_bytes.set(self.disk_bytes)
        return group.positions

    def sync(self) -> None:
        """Make durable what is written and tell readers. Raises JournalUnavailableError."""
        segment = self._active
        if segment is None or not self.has_unsynced:
            return
        began_s = self._clock.monotonic_s()
        try:
            segment.sync()
        except OSError as err:
            self._give_up(segment)
            raise self._refused("sync", err) from err
        self._last_sync_s = self._clock.monotonic_s()
        self._metrics.sync_seconds.observe(self._last_sync_s - began_s)
        self._end = Position(segment.header.number, segment.end)
        self._next_record_id = segment.next_record_id
        self._publish()

    def ask_for_space(self) -> None:
        """An append was refused for want of space: let the next `collect` free all it can."""
        self._is_short_of_space = True

    def sync_due_in_s(self) -> float | None:
        """Only relaxed durability leaves anything unsynced."""
        if not self.has_unsynced:
            return None
        return max(0.0, self._last_sync_s + self._settings.sync_interval_s - self._clock.monotonic_s())

    def collect(self) -> int:
        """Delete what all cursors have passed; the number of segments deleted. Never raises for the disk."""
        active = self._active
        if active is not None and active.has_records and self._retention.is_passed_by_all(self._end):
            self._finish_if_in_the_way(active)
        deleted = self._retention.collect(self._sizes)
        self._metrics.disk_bytes.set(self.disk_bytes)
        self._metrics.segments.set(len(self._sizes) + (self._active is not None))
        return deleted

    def close(self) -> None:
        """Sync what relaxed durability left, give the lock back. Raises JournalUnavailableError if that sync fails."""
        try:
            self.sync()
        finally:
            if self._active is not None:
                self._active.close()
                self._active = None
            self._mark.close()
            self._lock.release()

    def _recover(self) -> None:
        cursors_directory(self._directory).mkdir(exist_ok=True)
        aside = Aside(self._directory, files=self._files, max_bytes=self._settings.max_aside_bytes)
        try:
            mark = self._mark.open()
        except OSError:
            self._mark.close()
            self._metrics.corrupt.labels("mark").inc()
            aside.move(self._directory / MARK_NAME, reason="mark")
            mark = self._mark.open()
        found = recover(self._directory, mark=mark, files=self._files, metrics=self._metrics, aside=aside)
        self._sizes = dict(found.sizes)
        self._end = found.end
        self._next_segment = found.next_segment
        self._next_record_id = found.next_record_id
        if found.end.segment:
            self._publish()
        self._retention.report_unexpected()

    def _segment_for(self, needed: int) -> OpenSegment:
        active = self._active
        limit = self._settings.effective_segment_bytes
        try:
            if active is None:
                return self._begin_segment()
            if active.has_records and active.end + needed > limit:
                return self._rotate(active)
        except OSError as err:
            raise self._refused("create", err) from err
        return active

    def _rotate(self, active: OpenSegment) -> OpenSegment:
        """Begin the next segment first: where that fails, the current one goes on."""
        self.sync()
        begun = self._begin_segment()
        self._finish(active)
        self._retention.collect(self._sizes)
        return begun

    def _begin_segment(self) -> OpenSegment:
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
            self._active = segment
            self._end = Position(header.number, segment.end)
            self._publish(sync=True)
            return segment
        raise FileExistsError(errno.EEXIST, "segment names are taken")

    def _finish(self, segment: OpenSegment) -> None:
        segment.close()
        self._sizes[segment.header.number] = segment.end

    def _finish_if_in_the_way(self, active: OpenSegment) -> None:
        """Nothing in it is left to read: finishing it lets its space go, if that is much or is waited for."""
        is_large = active.end >= self._settings.effective_segment_bytes // 2
        if self.has_unsynced or not (is_large or self._is_short_of_space):
            return
        self._is_short_of_space = False
        try:
            self._begin_segment()
        except OSError as err:
            self._metrics.disk_failures.labels("create").inc()
            log.warning("journal segment not created", directory=str(self._directory), error=str(err))
            return
        self._finish(active)

    def _take_back(self, segment: OpenSegment) -> None:
        try:
            segment.take_back()
        except OSError:
            self._metrics.disk_failures.labels("truncate").inc()
            self._give_up(segment)

    def _give_up(self, segment: OpenSegment) -> None:
        relaxed = self._settings.durability == "relaxed"
        if relaxed and self.has_unsynced:
            unsynced = segment.next_record_id - segment.synced_next_record_id
            self._metrics.relaxed_unsynced.inc(unsynced)
            log.error("journal records not synced", segment=segment.header.number, records=unsynced)
        segment.give_up(keep_unsynced=relaxed)
        self._next_record_id = segment.next_record_id
        self._active = None
        if segment.end > SEGMENT_HEADER_BYTES:
            self._sizes[segment.header.number] = segment.end
        else:
            self._retention.delete(segment.header.number)

    def _publish(self, *, sync: bool = False) -> None:
        self._mark.publish(
            Slot(position=self._end, next_record_id=self._next_record_id, written_ns=self._clock.now_ns()), sync=sync
        )

    def _refused(self, operation: str, err: OSError) -> JournalUnavailableError:
        self._metrics.disk_failures.labels(operation).inc()
        log.error("journal disk refused", operation=operation, error=str(err))
        return JournalUnavailableError(
            f"Journal {self._directory} could not {operation} ({err.strerror}); send again later.",
            retry_after_s=RETRY_AFTER_S,
        )


def full_error(settings: JournalSettings) -> JournalFullError:
    return JournalFullError(
        f"Journal {settings.directory} holds its {settings.max_bytes} bytes; send again when readers have caught up, "
        "or raise max_bytes.",
        retry_after_s=RETRY_AFTER_S,
    )
