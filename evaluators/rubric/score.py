"""From the answers about criteria to a score: computed here, never taken from a judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.rubric.model import Answer, Criterion, Rubric

_LEAST_ASSESSED = 0.5
"""With less of the weight of what applies assessed, a share would say more than is known."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was answered about one criterion, over all turns that were asked about."""

    criterion: Criterion
    answers: tuple[Answer, ...]

    @property
    def counts(self) -> Mapping[Answer, int]:
        return Counter(self.answers)

    @property
    def applies(self) -> bool:
        return any(answer != "not_applicable" for answer in self.answers)

    @property
    def value(self) -> float | None:
        """Share of the assessed answers that are yes; None where none could be assessed."""
        yes, no = self.counts.get("yes", 0), self.counts.get("no", 0)
        return yes / (yes + no) if yes + no else None

    @property
    def assessed(self) -> float:
        """Share of the answers that apply."""
        applying = len(self.answers) - self.counts.get("not_applicable", 0)
        return 1 - self.counts.get("cannot_assess", 0) / applying if applying else 0.0


@dataclass(frozen=True, slots=True)
class Result:
    score: float | None
    """None: nothing applies, or too little could be assessed."""
    assessed: float
    """Share of the weight of what applies."""
    broken: tuple[str, ...]
    """Names of criteria that do not hold, at least once."""

    def passes(self, threshold: float) -> bool:
        return self.score is not None and self.score >= threshold


def score_of(rubric: Rubric, tallies: Sequence[Tally]) -> Result:
    applying = [tally for tally in tallies if tally.applies]
    broken = tuple(tally.criterion.name for tally in applying if tally.value is not None and tally.value < 1)
    if not applying:
        return Result(None, 0.0, broken)
    weight = math.fsum(tally.criterion.weight for tally in applying)
    assessed = math.fsum(tally.criterion.weight * tally.assessed for tally in applying) / weight
    if assessed < _LEAST_ASSESSED and not _fails_alone(rubric, applying):
        return Result(None, round(assessed, 4), broken)
    return Result(_combined(rubric, applying), round(assessed, 4), broken)


def _fails_alone(rubric: Rubric, tallies: Sequence[Tally]) -> bool:
    """One criterion that does not hold is enough for 0, whatever could not be assessed."""
    return any(
        tally.value is not None and tally.value < 1 and (rubric.combine == "all" or tally.criterion.required)
        for tally in tallies
    )


def _combined(rubric: Rubric, tallies: Sequence[Tally]) -> float:
    if _fails_alone(rubric, tallies):
        return 0.0
    values = [(tally.value, tally.criterion.weight) for tally in tallies if tally.value is not None]
    match rubric.combine:
        case "all":
            return 1.0
        case "min":
            return round(min(value for value, _ in values), 6)
        case "mean":
            weight = math.fsum(weight for _, weight in values)
            return round(math.fsum(value * weight for value, weight in values) / weight, 6)


def rating_of(score: float) -> int:
    """1 to 5: 1 + 4 x score, to the nearest whole number."""
    return math.floor(1 + 4 * score + 0.5)
