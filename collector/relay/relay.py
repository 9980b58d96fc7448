"""The relay of one destination: follows the journal with its own cursor and sends on what was received, byte for byte.

It promises at least once: the cursor moves only over requests that have their outcome, so that what was under way when
the process died is sent again. Requests are begun in the order of the journal, a few at a time; with a window of one
request they also arrive strictly in that order. In memory it holds the window's bytes and at most one request more.
Each destination has its own relay, with reader, sender, window and thread of its own, so a dead one is alone with it.

It does not judge, filter by content or change anything.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog

from collector.clock import Clock
from collector.errors import RetryableError
from collector.journal.protocol import JournalRecord, Position, Reader
from collector.log_limit import LogLimit
from collector.relay.dead_letters import DeadLetters
from collector.relay.delivery import Delivery, StoppedError
from collector.relay.metrics import RelayMetrics
from collector.relay.pace import Pace
from collector.relay.retry import RetryPolicy
from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal
from collector.waiting import happens_within

log = structlog.get_logger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Window:
    """What may be under way at once."""

    max_requests: int = 10
    max_bytes: int = 8 << 20


@dataclass(slots=True)
class _Flight:
    record: JournalRecord
    done: bool = False


class Relay:
    """The caller owns `run` as a task and calls `shutdown`, which also closes the reader and the sender."""

    def __init__(
        self,
        name: str,
        *,
        reader: Reader,
        sender: OtlpSender,
        metrics: RelayMetrics,
        clock: Clock,
        rng: random.Random,
        signals: frozenset[Signal] = frozenset(Signal),
        policy: RetryPolicy | None = None,
        window: Window | None = None,
        dead_letters: DeadLetters | None = None,
        commit_interval_s: float = 1.0,
        poll_s: float = 0.25,
        max_parts: int = 256,
        mark: Callable[[JournalRecord], Awaitable[None]] | None = None,
    ) -> None:
        """`poll_s` bounds one wait for new records, and with it how late a shutdown is noticed; `max_parts` bounds the
        tries for one request that the destination finds too large. `mark` is told of each request that has its outcome,
        for a reader that gives none of those again, whatever the cursor says.
        """
        policy = policy or RetryPolicy()
        self._name = name
        self._reader = reader
        self._sender = sender
        self._metrics = metrics
        self._clock = clock
        self._signals = signals
        self._window = window or Window()
        self._commit_interval_s = commit_interval_s
        self._poll_s = poll_s
        self._mark = mark
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"relay-{name}")
        self._pace = Pace(policy=policy, clock=clock, rng=rng)
        self._stopping = asyncio.Event()
        self._finished = asyncio.Event()
        self._running = False
        self._closed = False
        self._flights: deque[_Flight] = deque()
        self._flight_bytes = 0
        self._deliveries: set[asyncio.Task[None]] = set()
        self._done_to: Position | None = None
        self._committed_to: Position | None = None
        self._log_limit = LogLimit(clock)
        self._delivery = Delivery(
            name,
            sender=sender,
            policy=policy,
            pace=self._pace,
            metrics=metrics,
            clock=clock,
            stopping=self._stopping,
            dead_letters=dead_letters,
            max_parts=max_parts,
        )
        metrics.oldest_age_s.labels(name).set_function(self._oldest_age_s)

    async def run(self) -> None:
        """Until `shutdown`, or until the journal cannot be read in a way that will not pass."""
        if self._running or self._stopping.is_set():
            return
        self._running = True
        try:
            async with asyncio.TaskGroup() as tasks:
                committing = tasks.create_task(self._commit_regularly())
                await self._follow(tasks)
                while self._deliveries:
                    await asyncio.wait(self._deliveries)
                committing.cancel()
        finally:
            await self._commit()
            self._running = False
            self._finished.set()

    async def shutdown(self, deadline_s: float) -> None:
        """Finish the tries under way, but none after the deadline; make the place durable; close. Safe twice.

        Requests that wait for a dead destination are left for the next start.
        """
        self._stopping.set()
        self._pace.notify()
        if self._running and not await happens_within(deadline_s, self._finished, clock=self._clock):
            for task in self._deliveries:
                task.cancel()
            await self._finished.wait()
        if self._closed:
            return
        self._closed = True
        self._metrics.oldest_age_s.labels(self._name).set_function(float)
        await self._sender.close()
        await self._in_thread(self._reader.close)
        self._thread.shutdown()

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        while not self._stopping.is_set():
            if not self._has_room():
                await self._pace.changed()
                continue
            records = await self._read(self._window.max_bytes - self._flight_bytes)
            if not records:
                await self._in_thread(partial(self._reader.wait, timeout_s=self._poll_s))
            for record in records:
                while not self._has_room() and not self._stopping.is_set():
                    await self._pace.changed()
                if self._stopping.is_set():
                    return
                self._begin(record, tasks)

    async def _read(self, max_bytes: int) -> list[JournalRecord]:
        try:
            return list(await self._in_thread(partial(self._reader.read, max_bytes=max_bytes)))
        except (OSError, RetryableError) as err:
            self._metrics.read_failures.labels(self._name).inc()
            if self._log_limit.allows("read"):
                log.warning("nothing to relay could be read", destination=self._name, error=str(err))
            await happens_within(1.0, self._stopping, clock=self._clock)
            return []

    def _begin(self, record: JournalRecord, tasks: asyncio.TaskGroup) -> None:
        flight = _Flight(record)
        self._flights.append(flight)
        self._flight_bytes += len(record.body)
        if record.signal not in self._signals:
            self._metrics.not_selected.labels(self._name, record.signal.value).inc()
            self._settle(flight)
            return
        task = tasks.create_task(self._deliver(flight))
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)
        self._show_window()

    async def _deliver(self, flight: _Flight) -> None:
        try:
            await self._delivery.deliver(flight.record, is_oldest=lambda: self._flights[0] is flight)
        except StoppedError:
            return
        if self._mark is not None:
            await self._mark(flight.record)
        self._settle(flight)

    def _settle(self, flight: _Flight) -> None:
        """Only what lies before the oldest open request may be committed."""
        flight.done = True
        while self._flights and self._flights[0].done:
            oldest = self._flights.popleft().record
            self._flight_bytes -= len(oldest.body)
            self._done_to = oldest.next_position
        self._show_window()
        self._pace.notify()

    def _has_room(self) -> bool:
        return len(self._flights) < self._window.max_requests and self._flight_bytes < self._window.max_bytes

    async def _commit_regularly(self) -> None:
        while True:
            await self._clock.sleep(self._commit_interval_s)
            await self._commit()

    async def _commit(self) -> None:
        position = self._done_to
        if position is None or position == self._committed_to:
            return
        try:
            await self._in_thread(partial(self._reader.commit, position))
        except (OSError, RetryableError) as err:
            self._metrics.commit_failures.labels(self._name).inc()
            if self._log_limit.allows("commit"):
                log.warning("place in the journal could not be saved", destination=self._name, error=str(err))
        else:
            self._committed_to = position

    def _show_window(self) -> None:
        self._metrics.in_flight_requests.labels(self._name).set(len(self._flights))
        self._metrics.in_flight_bytes.labels(self._name).set(self._flight_bytes)

    def _oldest_age_s(self) -> float:
        if not self._flights:
            return 0.0
        return max(0.0, (self._clock.now_ns() - self._flights[0].record.received_ns) / 1e9)

    async def _in_thread(self, function: Callable[[], _T]) -> _T:
        """The reader is used from this one thread only."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)
