"""The event loop's side of appending: bounds what is in flight, hands it to one writer thread, resolves what is on
disk.

Group commit without a timer: the thread takes whatever has queued up during the last commit, writes and syncs it as
one group, and resolves the whole group in one call into the loop. Under light load a group is one record and nobody
waits for others; under heavy load groups grow by themselves. An append whose caller gave up may still be written.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from random import Random, SystemRandom
from typing import TypeAlias

import structlog

from collector.clock import Clock
from collector.errors import (
    AdhereError,
    JournalFullError,
    JournalUnavailableError,
    OverloadedError,
    RequestTooLargeError,
)
from collector.journal.files import Files, OsFiles
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry
from collector.journal.protocol import Position
from collector.journal.segment import SEGMENT_HEADER_BYTES
from collector.journal.segment_log import RETRY_AFTER_S, SegmentLog, full_error
from collector.journal.settings import JournalSettings
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Append:
    entry: Entry
    placed: asyncio.Future[Position]


@dataclass(frozen=True, slots=True)
class _Collect:
    deleted: asyncio.Future[int]


@dataclass(frozen=True, slots=True)
class _Stop:
    pass


_Order: TypeAlias = _Append | _Collect | _Stop


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
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = asyncio.Lock()
        self._ended: asyncio.Future[None] | None = None
        self._is_closing = False
        self._pending: set[asyncio.Future[Position]] = set()
        self._in_flight_bytes = 0
        self._disk_bytes = 0

    async def start(self) -> None:
        """Recover and begin to write. Raises JournalLockedError, JournalVersionError, JournalUnavailableError."""
        async with self._starting:
            if self._thread is not None:
                return
            if self._is_closing:
                raise self._closed_error()
            self._loop = asyncio.get_running_loop()
            await self._open_log()
            self._disk_bytes = self._log.disk_bytes
            self._ended = self._loop.create_future()
            self._thread = threading.Thread(target=self._write, name="journal-writer", daemon=True)
            self._thread.start()

    async def append(self, signal: Signal, body: bytes) -> Position:
        """Return once the body is on disk (`relaxed`: written). Raises RetryableError, or RequestTooLargeError."""
        entry = Entry(signal=signal, body=body, received_ns=self._clock.now_ns())
        size = entry.max_stored_bytes
        self._admit(size)
        assert self._loop is not None
        placed: asyncio.Future[Position] = self._loop.create_future()
        self._pending.add(placed)
        self._in_flight_bytes += size
        self._orders.put(_Append(entry=entry, placed=placed))
        return await placed

    async def collect(self) -> int:
        """Delete what all cursors have passed, now; the number of segments deleted."""
        if self._thread is None or self._is_closing:
            return 0
        deleted: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._orders.put(_Collect(deleted=deleted))
        return await deleted

    async def close(self, *, deadline_s: float) -> None:
        """Write what was accepted, then stop; what the deadline cuts off is refused with JournalUnavailableError."""
        self._is_closing = True
        async with self._starting:
            ended = self._ended
        if ended is None:
            return
        self._orders.put(_Stop())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                await asyncio.shield(ended)
        if not ended.done():
            log.error("journal not closed in time", deadline_s=deadline_s, pending=len(self._pending))
        for placed in tuple(self._pending):
            self._refuse(placed, self._closed_error(), reason="closing")
        self._pending.clear()

    @property
    def is_accepting(self) -> bool:
        """For readiness: started, not closing, and with room on disk."""
        return self._thread is not None and not self._is_closing and self._has_room(0)

    def _admit(self, size: int) -> None:
        settings = self._settings
        if self._thread is None or self._is_closing:
            self._metrics.refused.labels("closing").inc()
            raise self._closed_error()
        if size + 2 * SEGMENT_HEADER_BYTES > settings.max_bytes or size >= 2**32:
            self._metrics.refused.labels("too_large").inc()
            raise RequestTooLargeError(
                f"Request of {size} bytes can never fit the journal's {settings.max_bytes} bytes; "
                "send smaller batches, or raise max_bytes."
            )
        if self._pending and (
            len(self._pending) >= settings.max_in_flight_records
            or self._in_flight_bytes + size > settings.max_in_flight_bytes
        ):
            self._metrics.refused.labels("overloaded").inc()
            raise OverloadedError(
                f"Journal {settings.directory} has {self._in_flight_bytes} bytes waiting; send again later.",
                retry_after_s=RETRY_AFTER_S,
            )
        if not self._has_room(size):
            self._log.ask_for_space()
            self._metrics.refused.labels("full").inc()
            raise full_error(settings)

    def _has_room(self, size: int) -> bool:
        needed = self._in_flight_bytes + size + SEGMENT_HEADER_BYTES
        return self._disk_bytes + needed <= self._settings.max_bytes

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

    # The writer thread.

    def _write(self) -> None:
        stopping = False
        next_collect_s = self._clock.monotonic_s()
        while not stopping:
            orders = self._take(self._pause_s(next_collect_s))
            appends = [order for order in orders if isinstance(order, _Append)]
            if appends:
                self._append_group(appends)
            if self._log.sync_due_in_s() == 0.0:
                self._guard(self._log.sync)
            collects = [order for order in orders if isinstance(order, _Collect)]
            if collects or self._clock.monotonic_s() >= next_collect_s:
                deleted = self._guard(self._log.collect) or 0
                next_collect_s = self._clock.monotonic_s() + self._settings.collect_interval_s
                self._in_loop(self._report_collected, collects, deleted, self._log.disk_bytes)
            stopping = any(isinstance(order, _Stop) for order in orders)
        self._guard(self._log.close)
        self._in_loop(self._end_thread)

    def _pause_s(self, next_collect_s: float) -> float:
        pause_s = next_collect_s - self._clock.monotonic_s()
        sync_due_in_s = self._log.sync_due_in_s()
        return max(0.0, pause_s if sync_due_in_s is None else min(pause_s, sync_due_in_s))

    def _take(self, pause_s: float) -> list[_Order]:
        """All that is queued, up to the size of a group; waits for the first, at most `pause_s`."""
        orders: list[_Order] = []
        size = 0
        limit = min(self._settings.max_group_bytes, self._settings.effective_segment_bytes)
        try:
            order = self._orders.get(timeout=pause_s) if pause_s > 0 else self._orders.get_nowait()
            while True:
                orders.append(order)
                if isinstance(order, _Append):
                    size += order.entry.max_stored_bytes
                if size >= limit:
                    break
                order = self._orders.get_nowait()
        except Empty:
            pass
        return orders

    def _append_group(self, appends: Sequence[_Append]) -> None:
        try:
            positions = self._log.append([order.entry for order in appends])
        except AdhereError as err:
            self._in_loop(self._refuse_group, appends, err, self._log.disk_bytes)
        except Exception as err:
            # Supervision point: the thread outlives what nobody foresaw.
            log.exception("journal append failed")
            self._metrics.disk_failures.labels("unexpected").inc()
            refused = JournalUnavailableError(
                f"Journal {self._settings.directory} failed unexpectedly ({type(err).__name__}); send again later.",
                retry_after_s=RETRY_AFTER_S,
            )
            self._in_loop(self._refuse_group, appends, refused, self._log.disk_bytes)
        else:
            self._in_loop(self._place_group, appends, positions, self._log.disk_bytes)

    def _guard(self, operation: Callable[[], int | None]) -> int:
        """Run what nobody waits for; it counts and logs its own failures."""
        try:
            return operation() or 0
        except AdhereError:
            return 0
        except Exception:
            log.exception("journal upkeep failed")
            self._metrics.disk_failures.labels("unexpected").inc()
            return 0

    def _in_loop(self, callback: Callable[..., None], *arguments: object) -> None:
        assert self._loop is not None
        # The loop is gone when the process ends without closing; nobody waits for an answer then.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    # Back in the event loop.

    def _place_group(self, appends: Sequence[_Append], positions: Sequence[Position], disk_bytes: int) -> None:
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

    def _refuse_group(self, appends: Sequence[_Append], err: AdhereError, disk_bytes: int) -> None:
        self._disk_bytes = disk_bytes
        reason = "full" if isinstance(err, JournalFullError) else "unavailable"
        for order in appends:
            if self._leave(order):
                self._refuse(order.placed, err, reason=reason)

    def _report_collected(self, collects: Sequence[_Collect], deleted: int, disk_bytes: int) -> None:
        self._disk_bytes = disk_bytes
        for order in collects:
            if not order.deleted.done():
                order.deleted.set_result(deleted)

    def _end_thread(self) -> None:
        assert self._ended is not None
        if not self._ended.done():
            self._ended.set_result(None)

    def _leave(self, order: _Append) -> bool:
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

    def _closed_error(self) -> JournalUnavailableError:
        return JournalUnavailableError(
            f"Journal {self._settings.directory} is not open; send again later.", retry_after_s=RETRY_AFTER_S
        )
