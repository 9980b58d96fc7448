"""The event loop's side of appending: bounds what is in flight, hands it to one writer thread, resolves what is on
disk. An append whose caller gave up may still be written.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from queue import SimpleQueue
from random import Random, SystemRandom

import structlog

from collector.clock import Clock
from collector.errors import AdhereError, JournalFullError
from collector.journal import refusals
from collector.journal.files import Files, OsFiles
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry
from collector.journal.protocol import Position
from collector.journal.segment import SEGMENT_HEADER_BYTES
from collector.journal.segment_log import SegmentLog
from collector.journal.settings import JournalSettings
from collector.journal.writer_thread import Append, Collect, Order, Stop, WriterThread
from collector.log_limit import LogLimit
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)

FULL_LOG_INTERVAL_S = 60.0


class JournalWriter:
    """Implements `protocol.Appender`. `start` and `close` are safe twice; after `close` nothing starts it again."""

    def __init__(
        self,
        settings: JournalSettings,
        *,
        cursors: Sequence[str],
        yielding: Sequence[str] = (),
        clock: Clock,
        metrics: JournalMetrics,
        files: Files | None = None,
        random: Random | None = None,
    ) -> None:
        """`cursors` names every reader whose data must be kept until it has passed, `yielding` those whose data is kept
        only while the journal has room.
        """
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._log = SegmentLog(
            settings,
            cursors=cursors,
            yielding=yielding,
            clock=clock,
            metrics=metrics,
            files=files or OsFiles(),
            random=random or SystemRandom(),
        )
        self._orders: SimpleQueue[Order] = SimpleQueue()
        self._thread = WriterThread(self._log, self._orders, settings, answers=self, clock=clock, metrics=metrics)
        self._log_limit = LogLimit(clock, interval_s=FULL_LOG_INTERVAL_S)
        self._starting = asyncio.Lock()
        self._ended: asyncio.Future[None] | None = None
        self._is_closing = False
        self._pending: set[asyncio.Future[Position]] = set()
        self._in_flight_bytes = 0
        self._disk_bytes = 0

    async def start(self) -> None:
        """Recover and begin to write. Raises JournalLockedError, JournalVersionError, JournalUnavailableError."""
        async with self._starting:
            if self._ended is not None:
                return
            if self._is_closing:
                raise refusals.not_open()
            await self._open_log()
            self._disk_bytes = self._log.disk_bytes
            self._ended = asyncio.get_running_loop().create_future()
            self._thread.start()

    async def append(self, signal: Signal, body: bytes) -> Position:
        """Return once the body is on disk (`relaxed`: written). Raises RetryableError, or RequestTooLargeError."""
        entry = Entry(signal=signal, body=body, received_ns=self._clock.now_ns())
        size = entry.max_stored_bytes
        self._admit(size)
        placed: asyncio.Future[Position] = asyncio.get_running_loop().create_future()
        self._pending.add(placed)
        self._in_flight_bytes += size
        self._orders.put(Append(entry=entry, placed=placed))
        return await placed

    async def collect(self) -> int:
        """Delete what all cursors have passed, now; the number of segments deleted."""
        if self._ended is None or self._is_closing:
            return 0
        deleted: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._orders.put(Collect(deleted=deleted))
        return await deleted

    async def close(self, *, deadline_s: float) -> None:
        """Write what was accepted, then stop; what the deadline cuts off is refused with JournalUnavailableError."""
        self._is_closing = True
        async with self._starting:
            ended = self._ended
        if ended is None:
            return
        self._orders.put(Stop())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                await asyncio.shield(ended)
        if not ended.done():
            log.error("journal not closed in time", deadline_s=deadline_s, pending=len(self._pending))
        for placed in tuple(self._pending):
            self._refuse(placed, refusals.not_open(), reason="closing")
        self._pending.clear()

    @property
    def is_accepting(self) -> bool:
        """For readiness: started, not closing, and with room on disk."""
        return self._ended is not None and not self._is_closing and self._has_room(0)

    def _admit(self, size: int) -> None:
        settings = self._settings
        if self._ended is None or self._is_closing:
            self._metrics.refused.labels("closing").inc()
            raise refusals.not_open()
        if size + 2 * SEGMENT_HEADER_BYTES > settings.max_bytes or size >= 2**32:
            self._metrics.refused.labels("too_large").inc()
            raise refusals.too_large(size, max_bytes=settings.max_bytes)
        if self._pending and (
            len(self._pending) >= settings.max_in_flight_records
            or self._in_flight_bytes + size > settings.max_in_flight_bytes
        ):
            self._metrics.refused.labels("overloaded").inc()
            raise refusals.overloaded(self._in_flight_bytes)
        if not self._has_room(size):
            self._log.ask_for_space()
            self._metrics.refused.labels("full").inc()
            self._say_full()
            raise refusals.full(settings.max_bytes)

    def _has_room(self, size: int) -> bool:
        needed = self._in_flight_bytes + size + SEGMENT_HEADER_BYTES
        return self._disk_bytes + needed <= self._settings.max_bytes

    def _say_full(self) -> None:
        """Senders are not told where the journal is; whoever runs it is."""
        if self._log_limit.allows("full"):
            settings = self._settings
            log.warning("journal is full", directory=str(settings.directory), max_bytes=settings.max_bytes)

    async def _open_log(self) -> None:
        opening = asyncio.ensure_future(asyncio.to_thread(self._log.open))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread cannot be stopped; what it opened must not stay locked.
            with contextlib.suppress(AdhereError):
                await opening
                self._log.close()
            raise

    # What the writer thread answers.

    def place_group(self, appends: Sequence[Append], positions: Sequence[Position], disk_bytes: int) -> None:
        self._disk_bytes = disk_bytes
        placed_bytes: dict[Signal, list[int]] = {}
        for order, position in zip(appends, positions, strict=True):
            if self._leave(order):
                placed_bytes.setdefault(order.entry.signal, []).append(len(order.entry.body))
                if not order.placed.done():
                    order.placed.set_result(position)
        for signal, sizes in placed_bytes.items():
            self._metrics.appended.labels(signal).inc(len(sizes))
            self._metrics.appended_bytes.labels(signal).inc(sum(sizes))

    def refuse_group(self, appends: Sequence[Append], err: AdhereError, disk_bytes: int) -> None:
        self._disk_bytes = disk_bytes
        reason = "full" if isinstance(err, JournalFullError) else "unavailable"
        if reason == "full":
            self._say_full()
        for order in appends:
            if self._leave(order):
                self._refuse(order.placed, err, reason=reason)

    def report_collected(self, collects: Sequence[Collect], deleted: int, disk_bytes: int) -> None:
        self._disk_bytes = disk_bytes
        for order in collects:
            if not order.deleted.done():
                order.deleted.set_result(deleted)

    def end_thread(self) -> None:
        assert self._ended is not None
        if not self._ended.done():
            self._ended.set_result(None)

    def _leave(self, order: Append) -> bool:
        """False where `close` has refused it already."""
        self._in_flight_bytes -= order.entry.max_stored_bytes
        if order.placed not in self._pending:
            return False
        self._pending.remove(order.placed)
        return True

    def _refuse(self, placed: asyncio.Future[Position], err: AdhereError, *, reason: str) -> None:
        self._metrics.refused.labels(reason).inc()
        if not placed.done():
            placed.set_exception(err)
