"""A limit on calls in flight that gives way to a provider's own: halved when that is reached, then one more a round.

First come, first served. `async with` takes a slot.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

from collector.clock import Clock

_PAUSE_S = 1.0
"""Answers to one burst are one signal: the limit is halved at most once in this time."""


class AdaptiveLimit:
    def __init__(self, max_concurrency: int, *, clock: Clock) -> None:
        self._max = max_concurrency
        self._clock = clock
        self._limit = float(max_concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_at_s = float("-inf")

    @property
    def limit(self) -> int:
        return int(self._limit)

    @property
    def in_flight(self) -> int:
        return self._in_flight

    async def __aenter__(self) -> None:
        if self._in_flight < self.limit and not self._waiting:
            self._in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # The slot was given in the same moment: pass it on.
                self._release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def overloaded(self) -> None:
        now_s = self._clock.monotonic_s()
        if now_s - self._halved_at_s >= _PAUSE_S:
            self._halved_at_s = now_s
            self._limit = max(1.0, self._limit / 2)

    def succeeded(self) -> None:
        self._limit = min(float(self._max), self._limit + 1 / self._limit)

    def _release(self) -> None:
        self._in_flight -= 1
        while self._waiting and self._in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)
