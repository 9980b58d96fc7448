"""The thread that writes: takes whatever has queued up during the last commit, writes and syncs it as one group, and
answers the whole group in one call into the event loop.

Group commit without a timer: under light load a group is one record and nobody waits for others; under heavy load
groups grow by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol, TypeAlias

import structlog

from collector.clock import Clock
from collector.errors import AdhereError
from collector.journal import refusals
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry
from collector.journal.protocol import Position
from collector.journal.segment_log import SegmentLog
from collector.journal.settings import JournalSettings

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Append:
    entry: Entry
    placed: asyncio.Future[Position]


@dataclass(frozen=True, slots=True)
class Collect:
    deleted: asyncio.Future[int]


@dataclass(frozen=True, slots=True)
class Stop:
    pass


Order: TypeAlias = Append | Collect | Stop


class Answers(Protocol):
    """Called in the event loop; `disk_bytes` is what the journal has on disk by then."""

    def place_group(self, appends: Sequence[Append], positions: Sequence[Position], disk_bytes: int) -> None: ...

    def refuse_group(self, appends: Sequence[Append], err: AdhereError, disk_bytes: int) -> None: ...

    def report_collected(self, collects: Sequence[Collect], deleted: int, disk_bytes: int) -> None: ...

    def end_thread(self) -> None:
        """The log is closed, and nothing more is called."""


class WriterThread:
    def __init__(
        self,
        segments: SegmentLog,
        orders: SimpleQueue[Order],
        settings: JournalSettings,
        *,
        answers: Answers,
        clock: Clock,
        metrics: JournalMetrics,
    ) -> None:
        """`segments` is open, and this thread's from `start` until it is closed here."""
        self._log = segments
        self._orders = orders
        self._max_group_bytes = min(settings.max_group_bytes, settings.effective_segment_bytes)
        self._collect_interval_s = settings.collect_interval_s
        self._answers = answers
        self._clock = clock
        self._metrics = metrics
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Answers go to the event loop that this is called in. Ends by a `Stop` order alone."""
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._write, name="journal-writer", daemon=True).start()

    def _write(self) -> None:
        stopping = False
        next_collect_s = self._clock.monotonic_s()
        while not stopping:
            orders = self._take(self._pause_s(next_collect_s))
            appends = [order for order in orders if isinstance(order, Append)]
            if appends:
                self._append_group(appends)
            if self._log.sync_due_in_s() == 0.0:
                self._guard(self._log.sync)
            collects = [order for order in orders if isinstance(order, Collect)]
            if collects or self._clock.monotonic_s() >= next_collect_s:
                deleted = self._guard(self._log.collect) or 0
                next_collect_s = self._clock.monotonic_s() + self._collect_interval_s
                self._in_loop(self._answers.report_collected, collects, deleted, self._log.disk_bytes)
            stopping = any(isinstance(order, Stop) for order in orders)
        self._guard(self._log.close)
        self._in_loop(self._answers.end_thread)

    def _pause_s(self, next_collect_s: float) -> float:
        pause_s = next_collect_s - self._clock.monotonic_s()
        sync_due_in_s = self._log.sync_due_in_s()
        return max(0.0, pause_s if sync_due_in_s is None else min(pause_s, sync_due_in_s))

    def _take(self, pause_s: float) -> list[Order]:
        """All that is queued, up to the size of a group; waits for the first, at most `pause_s`."""
        orders: list[Order] = []
        size = 0
        try:
            order = self._orders.get(timeout=pause_s) if pause_s > 0 else self._orders.get_nowait()
            while True:
                orders.append(order)
                if isinstance(order, Append):
                    size += order.entry.max_stored_bytes
                if size >= self._max_group_bytes:
                    break
                order = self._orders.get_nowait()
        except Empty:
            pass
        return orders

    def _append_group(self, appends: Sequence[Append]) -> None:
        try:
            positions = self._log.append([order.entry for order in appends])
        except AdhereError as err:
            self._in_loop(self._answers.refuse_group, appends, err, self._log.disk_bytes)
        except Exception as err:
            # Supervision point: the thread outlives what nobody foresaw.
            log.exception("journal append failed")
            self._metrics.disk_failures.labels("unexpected").inc()
            self._in_loop(self._answers.refuse_group, appends, refusals.failed(err), self._log.disk_bytes)
        else:
            self._in_loop(self._answers.place_group, appends, positions, self._log.disk_bytes)

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
