"""The evaluator process's side of the journal: reads it into the live state and hands on what is ready.

Two loops share the state, one call at a time: one reads records and commits the cursor behind them, the other hands
ready units to the judging side, several side by side, and acknowledges those it took. A judging side that is slow holds
up only the second, so the journal is read on, and no more than one round of ready units is in memory.

Failures of the disk are waited out. A state file that turns out to be unsound is set aside and begun anew.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import structlog

from collector.clock import Clock
from collector.errors import RetryableError
from collector.journal.protocol import JournalRecord, Reader
from collector.live.metrics import LiveMetrics
from collector.live.ready import Ready
from collector.live.tracker import ConversationTracker
from collector.waiting import happens_within

log = structlog.get_logger(__name__)

ResultT = TypeVar("ResultT")

Deliver = Callable[[Ready], Awaitable[None]]
"""Returns once the judging side has the unit durably; until then it is handed over again, so taking is idempotent."""

_WAIT_S = 0.25
"""How long one wait for new records blocks its thread; stopping takes no longer."""
_LOOK_S = 1.0
_MAINTAIN_S = 30.0
_RETRY_FIRST_S = 0.5
_RETRY_MAX_S = 30.0
_DELIVERY_TRIES = 5
_POSTPONE_S = 300.0
_SIDE_BY_SIDE = 64
"""Units handed over at one time."""


class JournalTail:
    def __init__(
        self,
        reader: Reader,
        tracker: ConversationTracker,
        *,
        deliver: Deliver,
        clock: Clock,
        metrics: LiveMetrics,
        read_bytes: int = 4 * 1024 * 1024,
    ) -> None:
        self._reader = reader
        self._tracker = tracker
        self._deliver = deliver
        self._clock = clock
        self._metrics = metrics
        self._read_bytes = read_bytes
        self._state = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._stopped.set()

    async def run(self) -> None:
        """Until `shutdown` is called or the task is cancelled. Does not close the reader or the tracker."""
        self._stopped.clear()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read_loop())
                tasks.create_task(self._deliver_loop())
        finally:
            self._stopped.set()

    async def shutdown(self, deadline_s: float) -> bool:
        """Finish the round at hand; False if that took longer. What is not finished is done after the next start."""
        self._stopping.set()
        try:
            async with asyncio.timeout(deadline_s):
                await self._stopped.wait()
        except TimeoutError:
            return False
        return True

    async def _read_loop(self) -> None:
        while not self._stopping.is_set():
            records = await self._patiently("read", self._read)
            if records:
                await self._patiently("ingest", partial(self._ingest, records))
            else:
                await self._with_state(self._tracker.caught_up)
                await asyncio.to_thread(self._reader.wait, timeout_s=_WAIT_S)

    async def _read(self) -> Sequence[JournalRecord]:
        return await asyncio.to_thread(self._reader.read, max_bytes=self._read_bytes)

    async def _ingest(self, records: Sequence[JournalRecord]) -> None:
        lag_s = max(0.0, (self._clock.now_ns() - records[-1].received_ns) / 1e9)
        self._metrics.lag_seconds.set(lag_s)
        await self._with_state(self._tracker.ingest, records)
        position = self._tracker.position
        if position is not None:
            # Only behind the state: a crash in between reads these records again, and they change nothing.
            await asyncio.to_thread(self._reader.commit, position)

    async def _deliver_loop(self) -> None:
        next_maintenance_s = self._clock.monotonic_s()
        while not self._stopping.is_set():
            units = await self._patiently("look", lambda: self._with_state(self._tracker.due))
            for start in range(0, len(units or ()), _SIDE_BY_SIDE):
                if self._stopping.is_set():
                    return
                await self._hand_over_all((units or [])[start : start + _SIDE_BY_SIDE])
            now_s = self._clock.monotonic_s()
            if now_s >= next_maintenance_s:
                more = await self._patiently("maintain", lambda: self._with_state(self._tracker.maintain))
                next_maintenance_s = now_s + (0.1 if more else _MAINTAIN_S)
            if not units:
                due_s = await self._patiently("look", lambda: self._with_state(self._tracker.next_due_s))
                await self._pause(min(_LOOK_S, max(0.05, _LOOK_S if due_s is None else due_s)))

    async def _hand_over_all(self, units: Sequence[Ready]) -> None:
        """Side by side, so that the judging side can make many durable at once; acknowledged in one transaction."""
        async with asyncio.TaskGroup() as handing:
            tasks = [(unit, handing.create_task(self._hand_over(unit))) for unit in units]
        taken = [unit for unit, task in tasks if task.result()]
        if taken:
            await self._patiently("acknowledge", lambda: self._with_state(self._tracker.acknowledge, taken))

    async def _hand_over(self, unit: Ready) -> bool:
        """False: it is handed over again later."""
        wait_s = _RETRY_FIRST_S
        for _ in range(_DELIVERY_TRIES):
            try:
                await self._deliver(unit)
            except Exception as err:  # noqa: BLE001 - a supervision point: the judging side's trouble is not ours
                self._metrics.failures.labels("deliver").inc()
                log.warning("unit not taken", unit_kind=type(unit).__name__, error=type(err).__name__)
                if self._stopping.is_set():
                    return False
                await self._pause(wait_s)
                wait_s = min(_RETRY_MAX_S, 2 * wait_s)
            else:
                return True
        await self._with_state(self._tracker.postpone, unit, _POSTPONE_S)
        return False

    async def _patiently(self, where: str, attempt: Callable[[], Awaitable[ResultT]]) -> ResultT | None:
        """Try until it works or we are to stop (then None)."""
        wait_s = _RETRY_FIRST_S
        while not self._stopping.is_set():
            try:
                return await attempt()
            except (sqlite3.OperationalError, RetryableError, OSError) as err:
                log.warning("live state waits", where=where, error=type(err).__name__, reason=str(err))
            except sqlite3.DatabaseError as err:
                log.warning("live state unsound", where=where, reason=str(err))
            self._metrics.failures.labels(where).inc()
            await self._pause(wait_s)
            wait_s = min(_RETRY_MAX_S, 2 * wait_s)
        return None

    async def _with_state(self, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """One call at a time, off the event loop. An unsound file is replaced by an empty one before it raises."""
        async with self._state:
            try:
                return await asyncio.to_thread(call, *arguments)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError as err:
                # Before another call has its turn: it would meet the same file and set the next, sound one aside.
                await asyncio.to_thread(self._tracker.start_anew, str(err))
                raise

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not through a shutdown."""
        await happens_within(seconds, self._stopping, clock=self._clock)
