"""The fields of an evaluation at Galtea."""

from __future__ import annotations

from evaluators.verdict import Outcome, Verdict
from evaluators.views.bounds import short
from evaluators.views.fields import passed, threshold_of, tokens
from evaluators.views.status import status_of
from evaluators.views.trust import confidence_of, is_long_input


def view(verdict: Verdict, *, superseded: bool = False) -> dict[str, object]:
    sent, given, reasoning = tokens(verdict)
    return {
        "id": verdict.id,
        "metric": verdict.evaluator,
        "session_id": verdict.conversation_id[:200],
        "status": status_of(verdict, superseded=superseded).value,
        "score": verdict.score,
        "reason": short(verdict.reason),
        "passed": passed(verdict),
        "pass_threshold": threshold_of(verdict),
        "judge_model": verdict.judge.name,
        "judge_input_tokens": sent,
        "judge_output_tokens": given,
        "judge_reasoning_tokens": reasoning,
        "confidence": confidence_of(verdict),
        "long_input": is_long_input(verdict),
        "error": verdict.error_type if verdict.outcome is Outcome.ERROR else None,
    }
