"""How the scores of an evaluator are to be read: their range, their direction, and from where on they pass."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Scale:
    threshold: float | None
    """The least score that passes; None: the evaluator decides in another way."""
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True


def scale_of(evaluator: Evaluator) -> Scale:
    """Every score is from 0 to 1, and more is better; an evaluator with a `threshold` passes from there on."""
    threshold = getattr(evaluator, "threshold", None)
    return Scale(float(threshold) if isinstance(threshold, int | float) else None)
