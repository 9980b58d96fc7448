"""How long to wait before a judging is tried again, and when to give it up."""

from __future__ import annotations

from random import Random

from evaluators.pipeline.brake import Brake
from evaluators.pipeline.limits import PipelineLimits
from evaluators.store.waiting import Job


class Pacing:
    def __init__(self, limits: PipelineLimits, *, random: Random) -> None:
        self._limits = limits
        self._random = random

    def brake(self) -> Brake:
        return Brake(
            first_pause_s=self._limits.defer_first_s, max_pause_s=self._limits.defer_max_s, random=self._random
        )

    def deferral_ns(self, job: Job, *, asked_for_s: object = None) -> int:
        """At least as long as the judge asked for, where it did."""
        pause_s = min(self._limits.defer_first_s * 2 ** min(job.refusals, 16), self._limits.defer_max_s)
        pause_s *= self._random.uniform(0.8, 1.2)
        if isinstance(asked_for_s, int | float) and asked_for_s > pause_s:
            pause_s = min(float(asked_for_s), self._limits.max_deferral_s)
        return int(pause_s * 1e9)

    def retry_ns(self, tries: int) -> int:
        return int(self._limits.retry_delay_s * 2 ** (tries - 1) * self._random.uniform(0.8, 1.2) * 1e9)

    def interruption_ns(self, interruptions: int) -> int:
        """A first interruption is likely a plain restart; later ones wait, so that others go on meanwhile."""
        return 0 if interruptions < 2 else self.retry_ns(interruptions)

    def is_too_late(self, job: Job, *, now_ns: int, for_budget: bool = False) -> bool:
        """Refused too often, above all while the judge answered others, or waiting for too long.

        One that waited for money alone was not refused yet, however long that took.
        """
        waited_s = (now_ns - job.enqueued_ns) / 1e9
        if for_budget:
            return waited_s > self._limits.max_budget_wait_s
        return (
            job.own_refusals >= self._limits.max_own_refusals
            or job.refusals >= self._limits.max_refusals
            or (job.refusals > 0 and waited_s > self._limits.max_deferral_s)
        )
