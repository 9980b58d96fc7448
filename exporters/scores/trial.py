"""One score that says of itself that it is a test, for `adhere exporters test`."""

from __future__ import annotations

import hashlib

from evaluators.verdict import JudgeInfo, Outcome, UnitKind, Verdict

TRIAL_EVALUATOR = "adhere_test"
TRIAL_REASON = "A test score, sent by `adhere exporters test`. It judges nothing and may be deleted."


def trial_verdict(*, trace_id: str, span_id: str, now_ns: int) -> Verdict:
    """The same score for the same target, so that a second test overwrites the first where the backend can."""
    digest = hashlib.sha256(f"{TRIAL_EVALUATOR}/{trace_id}/{span_id}".encode()).hexdigest()
    return Verdict(
        id=digest[:32],
        evaluator=TRIAL_EVALUATOR,
        evaluator_version="1",
        rubric_version="1",
        unit_kind=UnitKind.TURN,
        unit_key=f"turn:adhere-test:{trace_id}:{span_id}",
        revision=0,
        conversation_id="adhere-test",
        service="adhere-test",
        agent_name="adhere-test",
        agent_version=None,
        trace_id=trace_id,
        span_id=span_id,
        target_end_ns=now_ns,
        response_id="adhere-test",
        outcome=Outcome.PASS,
        score=1.0,
        label="test",
        reason=TRIAL_REASON,
        judge=JudgeInfo(name="builtin"),
        judged_ns=now_ns,
    )
