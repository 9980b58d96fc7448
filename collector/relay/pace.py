"""When the requests of one destination may be tried: one backoff for all of them, and only the oldest probes.

Without it, every request in flight would knock at a dead destination by itself, and all of them at once when it is
back. After a failure only the oldest request tries again, after the backoff; once a try gets any answer but "later",
the others go on. The state is plain values on one event loop; waiting is for the caller's conditions to change.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from collector.clock import Clock
from collector.relay.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was known when a try began, so that tries that fail together count as one failure."""

    epoch: int


class Pace:
    def __init__(self, *, policy: RetryPolicy, clock: Clock, rng: random.Random) -> None:
        self._policy = policy
        self._clock = clock
        self._rng = rng
        self._epoch = 0
        self._retries = 0
        self._failing = False
        self._not_before_s = 0.0
        self._changed = asyncio.Event()

    @property
    def is_failing(self) -> bool:
        return self._failing

    @property
    def pause_s(self) -> float:
        """What is left of the backoff."""
        return max(0.0, self._not_before_s - self._clock.monotonic_s()) if self._failing else 0.0

    def begin(self) -> Attempt:
        return Attempt(self._epoch)

    def failed(self, attempt: Attempt, *, retry_after_s: float | None) -> None:
        """The destination said "later" or nothing at all."""
        now_s = self._clock.monotonic_s()
        if attempt.epoch == self._epoch:
            self._not_before_s = now_s + self._policy.delay_s(self._retries, retry_after_s=retry_after_s, rng=self._rng)
            self._retries += 1
            self._epoch += 1
            self._failing = True
        elif self._failing and retry_after_s:
            # A try of the same failed batch: it may name a later time, never an earlier one.
            delay_s = self._policy.delay_s(0, retry_after_s=retry_after_s, rng=self._rng)
            self._not_before_s = max(self._not_before_s, now_s + delay_s)

    def answered(self, attempt: Attempt) -> None:
        """The destination took or refused a request: it is there. Old tries say nothing about the present."""
        if attempt.epoch == self._epoch and self._failing:
            self._failing = False
            self._retries = 0
            self.notify()

    def notify(self) -> None:
        """Wake everyone who waits in `changed`; also for what the caller's condition depends on."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        await self._changed.wait()
