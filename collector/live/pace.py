"""How an agent's telemetry arrives: streaming quantiles of waiting times, in a few hundred bytes.

A histogram over logarithmic buckets (a factor of sqrt 2 each, 10 ms to about 3 hours) whose counts are halved when they
reach a limit, so that it follows an agent that changes. Quantiles are upper bucket bounds: never below the true value
by more than a bucket. Bounded in size, whatever it is fed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

_SMALLEST_S = 0.01
_BUCKETS = 42
_HALVE_AT = 1024


class WaitHistogram:
    def __init__(self, counts: Sequence[int] = ()) -> None:
        usable = [max(0, count) for count in counts[:_BUCKETS]]
        self._counts = usable + [0] * (_BUCKETS - len(usable))
        self._total = sum(self._counts)

    @property
    def total(self) -> int:
        return self._total

    @property
    def counts(self) -> list[int]:
        return list(self._counts)

    def add(self, seconds: float) -> None:
        self._counts[_bucket(seconds)] += 1
        self._total += 1
        if self._total >= _HALVE_AT:
            self._counts = [count // 2 for count in self._counts]
            self._total = sum(self._counts)

    def quantile_s(self, share: float) -> float:
        """The wait that this share of all waits did not exceed; 0 when nothing is known."""
        wanted = share * self._total
        seen = 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if count and seen >= wanted:
                return _SMALLEST_S * math.sqrt(2) ** bucket
        return 0.0


def _bucket(seconds: float) -> int:
    if seconds <= _SMALLEST_S:
        return 0
    return min(_BUCKETS - 1, math.ceil(2 * math.log2(seconds / _SMALLEST_S)))


@dataclass(slots=True)
class Pace:
    """The waits of one agent of one service."""

    settle: WaitHistogram = field(default_factory=WaitHistogram)
    """How long after a turn's end was known more of the turn arrived; zero where nothing more did."""
    gaps: WaitHistogram = field(default_factory=WaitHistogram)
    """Between two arrivals of a turn whose end was not yet known."""
    pauses: WaitHistogram = field(default_factory=WaitHistogram)
    """Between the last arrival of one turn and the first of the next."""

    def to_lists(self) -> list[list[int]]:
        return [self.settle.counts, self.gaps.counts, self.pauses.counts]

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> Pace:
        settle, gaps, pauses = (WaitHistogram(counts) for counts in lists)
        return cls(settle=settle, gaps=gaps, pauses=pauses)
