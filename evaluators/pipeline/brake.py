"""Leaves a judge alone that keeps refusing, and finds out with one unit at a time whether it answers again."""

from __future__ import annotations

from random import Random

from evaluators.verdict import DecisionKind

_REFUSALS_TO_PAUSE = 3


class Brake:
    """Refusals count in a row, over all units of one judge. Times are monotonic seconds.

    Every unit that was `sent` ends in `ended`, after `answered` or `refused` where it told something about the judge.
    """

    def __init__(self, *, first_pause_s: float, max_pause_s: float, random: Random) -> None:
        self._first_pause_s = first_pause_s
        self._max_pause_s = max_pause_s
        self._random = random
        self._refusals = 0
        self._pause_s = first_pause_s
        self._until_s = 0.0
        self._in_flight = 0
        self.why = DecisionKind.JUDGE_DOWN
        """What the last refusal was about."""

    @property
    def is_on(self) -> bool:
        return self._refusals >= _REFUSALS_TO_PAUSE

    def is_out_of_budget(self, *, now_s: float) -> bool:
        """Until the budget renews; from then on what comes in finds out."""
        return self.is_on and self.why is DecisionKind.DEFERRED_BUDGET and now_s < self._until_s

    def free(self, *, now_s: float, wanted: int) -> int:
        """How many units may be sent now."""
        if not self.is_on:
            return wanted
        return 0 if self._in_flight or now_s < self._until_s else min(1, wanted)

    def resumes_s(self, *, now_s: float) -> float | None:
        """When units may be sent; None: not before one in flight has ended."""
        if not self.is_on:
            return now_s
        return None if self._in_flight else self._until_s

    def sent(self, count: int) -> None:
        self._in_flight += count

    def ended(self) -> None:
        self._in_flight -= 1

    def answered(self) -> None:
        self._refusals = 0
        self._pause_s = self._first_pause_s

    def refused(
        self, *, now_s: float, why: DecisionKind = DecisionKind.JUDGE_DOWN, renews_in_s: float | None = None
    ) -> None:
        """`renews_in_s`: when a budget that is used up does; before that there is no use in asking."""
        was_on = self.is_on
        self._refusals += 1
        self.why = why
        if self.is_on and (not was_on or now_s >= self._until_s):
            pause_s = self._pause_s * self._random.uniform(0.8, 1.2)
            self._until_s = now_s + max(pause_s, renews_in_s or 0.0)
            self._pause_s = min(self._pause_s * 2, self._max_pause_s)
