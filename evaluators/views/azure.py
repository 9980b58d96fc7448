"""The fields of an evaluator of azure-ai-evaluation, and the boolean `flagged` of its documentation."""

from __future__ import annotations

from evaluators.verdict import Outcome, Verdict
from evaluators.views.bounds import short
from evaluators.views.fields import passed, threshold_of, tokens

_RESULTS = {Outcome.PASS: "pass", Outcome.FAIL: "fail"}


def view(verdict: Verdict) -> dict[str, object]:
    """An error is neither a pass, nor a fail, nor not applicable: it has no result, and the status `error`."""
    key, is_error = verdict.evaluator, verdict.outcome is Outcome.ERROR
    sent, given, _ = tokens(verdict)
    result = None if is_error else _RESULTS.get(verdict.outcome, "not_applicable")
    status = "error" if is_error else "skipped" if verdict.score is None else "completed"
    return {
        key: verdict.score,
        f"{key}_score": verdict.score,
        f"{key}_passed": passed(verdict),
        f"{key}_result": result,
        f"{key}_reason": short(verdict.reason),
        f"{key}_status": status,
        f"{key}_threshold": threshold_of(verdict),
        f"{key}_properties": {
            "prompt_tokens": sent,
            "completion_tokens": given,
            "total_tokens": sent + given if sent is not None and given is not None else None,
            "finish_reason": verdict.judge.finish_reason,
            "model": verdict.judge.name,
        },
        "flagged": None if verdict.score is None else verdict.outcome is Outcome.FAIL,
    }
