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
from evaluators.store.waiting import WaitingTotals, jobs_beyond, totals
from evaluators.verdict import DecisionKind

_MAX_SLICES = 20


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
        self.oldest_waiting_ns: int | None = None

    async def run(self) -> None:
        while True:
            await self._call_back()
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
