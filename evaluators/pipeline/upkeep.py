"""Keeps the store within its bounds and its gauges true."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial

from evaluators.pipeline.counting import count_tallies
from evaluators.pipeline.jobs import give_up
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.tally import Tally
from evaluators.store.dead import revive
from evaluators.store.retention import Retention, trim
from evaluators.store.waiting import WaitingTotals, jobs_beyond, no_later_than, totals
from evaluators.verdict import DecisionKind

_MAX_SLICES = 20
_STEP_NS = 1_000_000_000
"""A clock that is set right bit by bit loses less between two looks."""


class Upkeep:
    def __init__(
        self, shared: Shared, *, retention: Retention, on_look: Callable[[], None], on_called_back: Callable[[], None]
    ) -> None:
        """`on_look`: what else is to be looked at now and then, since another process may have written it."""
        self._shared = shared
        self._names = tuple(setup.name for setup in shared.setups)
        self._on_look = on_look
        self._on_called_back = on_called_back
        self._retention = retention
        self._known_bytes = 0
        self._ahead_ns: int | None = None
        """Of the clock that never jumps, when last looked at."""
        self.oldest_waiting_ns: int | None = None

    async def run(self) -> None:
        while True:
            await self._call_back()
            await self._follow_clock()
            await self.look()
            await self._trim()
            self._on_look()
            await self._shared.clock.sleep(self._shared.limits.upkeep_interval_s)

    async def enqueued(self, size: int) -> None:
        """Content has come to wait: look at once where the bound may be passed."""
        self._known_bytes += size
        if self._known_bytes > self._shared.limits.waiting_bytes:
            await self.look()

    async def look(self) -> None:
        shared = self._shared
        found, tallies = await shared.store.run(
            partial(_shed, max_bytes=shared.limits.waiting_bytes, now_ns=shared.clock.now_ns())
        )
        count_tallies(shared.metrics, tallies)
        self._known_bytes = found.content_bytes
        self.oldest_waiting_ns = found.oldest_ns
        shared.metrics.waiting.set(found.jobs)
        shared.metrics.waiting_bytes.set(found.content_bytes)
        shared.metrics.dead_letters.set(found.dead)

    async def _call_back(self) -> None:
        shared = self._shared
        found = await shared.store.run(partial(revive, evaluators=self._names, now_ns=shared.clock.now_ns()))
        for evaluator, count in found.items():
            shared.metrics.called_back.labels(evaluator).inc(count)
        if found:
            self._on_called_back()

    async def _follow_clock(self) -> None:
        """What waits on disk waits for a time of day. Where that was set back, now or while nobody ran, it may be days
        away: then it comes within the longest pause that we make ourselves.
        """
        clock, longest_s = self._shared.clock, self._shared.limits.defer_max_s
        now_ns = clock.now_ns()
        ahead_ns = now_ns - int(clock.monotonic_s() * 1e9)
        known_ns, self._ahead_ns = self._ahead_ns, ahead_ns
        if known_ns is not None and ahead_ns > known_ns - _STEP_NS:
            return
        if await self._shared.store.run(partial(no_later_than, not_before_ns=now_ns + int(longest_s * 1e9))):
            self._on_called_back()

    async def _trim(self) -> None:
        for _ in range(_MAX_SLICES):
            if not await self._shared.store.run(
                partial(trim, retention=self._retention, now_ns=self._shared.clock.now_ns())
            ):
                return
            self._shared.metrics.trimmed.inc()


def _shed(connection: sqlite3.Connection, *, max_bytes: int, now_ns: int) -> tuple[WaitingTotals, list[Tally]]:
    tallies = [
        give_up(
            connection,
            job,
            kind=DecisionKind.FAILED,
            code="backlog_full",
            reason="Too much content waited to be judged, and this was the oldest.",
            now_ns=now_ns,
        )
        for job in jobs_beyond(connection, max_bytes=max_bytes)
    ]
    return totals(connection), [tally for tally in tallies if tally is not None]
