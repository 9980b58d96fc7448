"""Appending, as the writer thread does it: synchronous, one caller at a time, no event loop.

A group is one write and, under full durability, one sync; then the mark moves and only then is anything
acknowledged. When the disk refuses a write, what it left is cut off again and the next group simply tries. When it
refuses a sync, the kernel may have dropped the pages and call them clean, so that a second sync would succeed
without them: the segment is given up and the next group begins a new one. Nothing that failed is acknowledged, and
no failure ends the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import structlog

from collector.clock import Clock
from collector.errors import JournalUnavailableError
from collector.journal import refusals
from collector.journal.compression import GroupCompression
from collector.journal.files import Files
from collector.journal.lock import JournalLock
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry, OpenSegment
from collector.journal.protocol import Position
from collector.journal.retention import Retention
from collector.journal.segment import SEGMENT_HEADER_BYTES
from collector.journal.segments import Segments
from collector.journal.settings import JournalSettings

log = structlog.get_logger(__name__)


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
        self._lock = JournalLock(self._directory)
        self._segments = Segments(self._directory, clock=clock, metrics=metrics, files=files, random=random)
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
        self._last_sync_s = clock.monotonic_s()
        self._is_short_of_space = False
        metrics.max_bytes.set(settings.max_bytes)

    @property
    def disk_bytes(self) -> int:
        return self._segments.disk_bytes

    def open(self) -> None:
        """Lock, recover, begin a segment. Raises JournalLockedError, JournalVersionError, JournalUnavailableError.

        A disk that is full is no reason not to open: the first append tries again.
        """
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            try:
                self._segments.recover(max_aside_bytes=self._settings.max_aside_bytes)
                self._retention.report_unexpected()
            except BaseException:
                self._segments.close()
                self._lock.release()
                raise
        except OSError as err:
            raise JournalUnavailableError(
                f"Journal {self._directory} cannot be opened ({err.strerror}); check the directory and the disk."
            ) from err
        try:
            self._segments.begin()
        except OSError as err:
            log.warning("journal segment not created", directory=str(self._directory), error=str(err))
        self.collect()

    def append(self, entries: Sequence[Entry]) -> Sequence[Position]:
        """All or none. Raises JournalFullError or JournalUnavailableError."""
        needed = sum(entry.max_stored_bytes for entry in entries)
        if self.disk_bytes + needed + SEGMENT_HEADER_BYTES > self._settings.max_bytes:
            self._is_short_of_space = True
            raise refusals.full(self._settings.max_bytes)
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
        segment = self._segments.active
        if segment is None or not self._segments.has_unsynced:
            return
        began_s = self._clock.monotonic_s()
        try:
            segment.sync()
        except OSError as err:
            self._give_up(segment)
            raise self._refused("sync", err) from err
        self._last_sync_s = self._clock.monotonic_s()
        self._metrics.sync_seconds.observe(self._last_sync_s - began_s)
        self._segments.synced(segment)

    def ask_for_space(self) -> None:
        """An append was refused for want of space: let the next `collect` free all it can."""
        self._is_short_of_space = True

    def sync_due_in_s(self) -> float | None:
        """Only relaxed durability leaves anything unsynced."""
        if not self._segments.has_unsynced:
            return None
        return max(0.0, self._last_sync_s + self._settings.sync_interval_s - self._clock.monotonic_s())

    def collect(self) -> int:
        """Delete what all cursors have passed; the number of segments deleted. Never raises for the disk."""
        active = self._segments.active
        if active is not None and active.has_records and self._retention.is_passed_by_all(self._segments.end):
            self._finish_if_in_the_way(active)
        deleted = self._retention.collect(self._segments.sizes)
        self._metrics.disk_bytes.set(self.disk_bytes)
        self._metrics.segments.set(self._segments.count)
        return deleted

    def close(self) -> None:
        """Sync what relaxed durability left, give the lock back. Raises JournalUnavailableError if that sync fails."""
        try:
            self.sync()
        finally:
            self._segments.close()
            self._lock.release()

    def _segment_for(self, needed: int) -> OpenSegment:
        active = self._segments.active
        limit = self._settings.effective_segment_bytes
        try:
            if active is None:
                return self._segments.begin()
            if active.has_records and active.end + needed > limit:
                return self._rotate(active)
        except OSError as err:
            raise self._refused("create", err) from err
        return active

    def _rotate(self, active: OpenSegment) -> OpenSegment:
        self.sync()
        begun = self._segments.replace(active)
        self._retention.collect(self._segments.sizes)
        return begun

    def _finish_if_in_the_way(self, active: OpenSegment) -> None:
        """Nothing in it is left to read: finishing it lets its space go, if that is much or is waited for."""
        is_large = active.end >= self._settings.effective_segment_bytes // 2
        if self._segments.has_unsynced or not (is_large or self._is_short_of_space):
            return
        self._is_short_of_space = False
        try:
            self._segments.replace(active)
        except OSError as err:
            self._metrics.disk_failures.labels("create").inc()
            log.warning("journal segment not created", directory=str(self._directory), error=str(err))

    def _take_back(self, segment: OpenSegment) -> None:
        try:
            segment.take_back()
        except OSError:
            self._metrics.disk_failures.labels("truncate").inc()
            self._give_up(segment)

    def _give_up(self, segment: OpenSegment) -> None:
        if not self._segments.give_up(segment, keep_unsynced=self._settings.durability == "relaxed"):
            self._retention.delete(segment.header.number)

    def _refused(self, operation: str, err: OSError) -> JournalUnavailableError:
        self._metrics.disk_failures.labels(operation).inc()
        log.error("journal disk refused", directory=str(self._directory), operation=operation, error=str(err))
        return refusals.disk_refused(operation, err)
