"""Score and reason, and nothing else."""

from __future__ import annotations

from evaluators.verdict import Verdict
from evaluators.views.bounds import short


def view(verdict: Verdict) -> dict[str, object]:
    """A result without a score has null there, never a number; its reason says why."""
    return {"score": verdict.score, "reason": short(verdict.reason)}
