"""Agreement of yes-or-no answers with labels: counts, shares with intervals, and kappa.

A fault is what a judge shall find, so a fault that fails is a hit. What has no answer is in no share; it is counted
beside them, since a judge that does not answer is not one that agrees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]

_Z95 = 1.959963984540054
"""Two-sided 95 % of the normal distribution."""
_NO_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Confusion:
    caught: int = 0
    """Faulty, and failed."""
    missed: int = 0
    """Faulty, and passed."""
    false_alarms: int = 0
    """Clean, and failed."""
    cleared: int = 0
    """Clean, and passed."""
    faulty_unanswered: int = 0
    clean_unanswered: int = 0

    @property
    def faulty(self) -> int:
        return self.caught + self.missed

    @property
    def clean(self) -> int:
        return self.false_alarms + self.cleared

    @property
    def answered(self) -> int:
        return self.faulty + self.clean

    @property
    def unanswered(self) -> int:
        return self.faulty_unanswered + self.clean_unanswered

    @property
    def sensitivity(self) -> float | None:
        return _share(self.caught, self.faulty)

    @property
    def specificity(self) -> float | None:
        return _share(self.cleared, self.clean)

    @property
    def kappa(self) -> float | None:
        """Cohen (1960): (observed - expected) / (1 - expected); None where all labels say the same, since it is then 0
        whatever the judge did.
        """
        if not self.faulty or not self.clean:
            return None
        observed, expected = self._agreements()
        return (observed - expected) / (1 - expected)

    @property
    def kappa_interval(self) -> Interval | None:
        """95 %, from the large-sample variance of Fleiss, Cohen and Everitt (1969); None where that is 0, as it is for
        perfect agreement: no sample makes anything certain.
        """
        kappa = self.kappa
        if kappa is None:
            return None
        n = self.answered
        cells = ((self.caught / n, self.missed / n), (self.false_alarms / n, self.cleared / n))
        rows = [sum(row) for row in cells]
        columns = [cells[0][i] + cells[1][i] for i in (0, 1)]
        _, expected = self._agreements()
        on = sum(cells[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
        off = (1 - kappa) ** 2 * sum(cells[i][1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
        variance = (on + off - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
        if variance < _NO_VARIANCE:
            return None
        margin = _Z95 * math.sqrt(variance)
        return max(-1.0, kappa - margin), min(1.0, kappa + margin)

    def _agreements(self) -> tuple[float, float]:
        n = self.answered
        failed, passed = self.caught + self.false_alarms, self.missed + self.cleared
        return (self.caught + self.cleared) / n, (self.faulty * failed + self.clean * passed) / n**2


def confusion_of(pairs: Iterable[tuple[bool, bool | None]]) -> Confusion:
    """Pairs of (faulty by the label, failed by the judge); None: no answer."""
    counts = {(faulty, failed): 0 for faulty in (True, False) for failed in (True, False, None)}
    for pair in pairs:
        counts[pair] += 1
    return Confusion(
        caught=counts[True, True],
        missed=counts[True, False],
        false_alarms=counts[False, True],
        cleared=counts[False, False],
        faulty_unanswered=counts[True, None],
        clean_unanswered=counts[False, None],
    )


def wilson(successes: int, total: int) -> Interval | None:
    """95 % interval of a share (Wilson 1927), which holds near 0 and 1 and for few cases; None of nothing."""
    if not total:
        return None
    share, z2 = successes / total, _Z95**2
    centre = share + z2 / (2 * total)
    margin = _Z95 * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    return max(0.0, (centre - margin) / (1 + z2 / total)), min(1.0, (centre + margin) / (1 + z2 / total))


def corrected_share(share: float, *, sensitivity: float, specificity: float) -> float | None:
    """The share of true faults behind a share of failed verdicts (Rogan and Gladen 1978); None where the judge
    answers no better than chance.
    """
    informed = sensitivity + specificity - 1
    return None if informed <= 0 else min(1.0, max(0.0, (share + specificity - 1) / informed))


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of the values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
