"""A person's evaluation in the place of a verdict, which it supersedes wherever that went.

What it replaced is kept beside it, in `details.human`: who, when, and the score, outcome, reason and judge before.
"""

from __future__ import annotations

from dataclasses import replace

from evaluators.content import digest_of
from evaluators.errors import EvaluatorConfigError
from evaluators.verdict import JudgeInfo, Outcome, Verdict

HUMAN = "human"
_MAX_NAME_CHARS = 200
_MAX_REASON_CHARS = 4000


def override(verdict: Verdict, *, score: float | None, reason: str, by: str, now_ns: int) -> Verdict:
    """`score` None: the person finds that there is nothing to score. Raises `EvaluatorConfigError`.

    The score passes by the threshold that the verdict was decided with, else from 0.5 on.
    """
    if not by.strip() or not reason.strip():
        raise EvaluatorConfigError("A person's evaluation needs a name and a reason: say who judges, and why.")
    if score is not None and not 0 <= score <= 1:
        raise EvaluatorConfigError(f"The score of a person's evaluation is {score:g} and must be from 0 to 1.")
    threshold = verdict.details.get("threshold")
    least = float(threshold) if isinstance(threshold, int | float) else 0.5
    outcome = Outcome.NOT_ASSESSABLE if score is None else Outcome.PASS if score >= least else Outcome.FAIL
    return replace(
        verdict,
        id=digest_of([verdict.id, HUMAN, by, score, reason, now_ns]),
        supersedes=verdict.id,
        outcome=outcome,
        score=score,
        label=None if score is None else outcome.value,
        reason=reason.strip()[:_MAX_REASON_CHARS],
        error_type="human" if score is None else None,
        judge=JudgeInfo(name=HUMAN),
        judged_ns=now_ns,
        details={**verdict.details, "human": _note(verdict, by=by, now_ns=now_ns)},
    )


def _note(verdict: Verdict, *, by: str, now_ns: int) -> dict[str, object]:
    """Where a person corrects a person, what the judge said stays on the record."""
    earlier = verdict.details.get("human")
    replaced = {
        "outcome": verdict.outcome.value,
        "score": verdict.score,
        "reason": verdict.reason[:_MAX_REASON_CHARS],
        "judge": verdict.judge.name,
    }
    if isinstance(earlier, dict) and isinstance(earlier.get("replaced"), dict):
        replaced = earlier["replaced"]
    return {"by": by.strip()[:_MAX_NAME_CHARS], "at_ns": now_ns, "replaced": replaced}
