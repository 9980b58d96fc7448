"""Verdicts for tests, whole and valid, with what a test cares about replaced."""

from __future__ import annotations

import dataclasses
from typing import Any

from evaluators.verdict import Evidence, JudgeInfo, Outcome, UnitKind, Verdict

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"
TARGET_END_NS = 1_790_000_000_123_456_789

REFUND_FAILED = Verdict(
    id="5b1f0c9e4a7d2b3885c6f1e0d9a8b7c6",
    evaluator="task_adherence",
    evaluator_version="1",
    rubric_version="9f3c",
    unit_kind=UnitKind.TURN,
    unit_key=f"turn:shop/conv-1:{TRACE_ID}:{SPAN_ID}",
    revision=0,
    conversation_id="conv-1",
    service="shop",
    agent_name="refunds",
    agent_version="2.4",
    trace_id=TRACE_ID,
    span_id=SPAN_ID,
    target_end_ns=TARGET_END_NS,
    response_id="chatcmpl-7",
    outcome=Outcome.FAIL,
    score=0.25,
    label="fail",
    reason="The refund was issued before the identity was verified.",
    evidence=(Evidence(turn=0, step=1, quote='issue_refund({"order": 7})', span_id="00f067aa0ba902b7"),),
    details={"dimensions": {"procedure": "fail"}},
    judge=JudgeInfo(
        name="gpt-5-mini",
        calls=1,
        input_tokens=1200,
        cached_input_tokens=800,
        output_tokens=90,
        cost_usd=0.0015,
        duration_s=2.5,
    ),
    turn_index=0,
    judged_ns=TARGET_END_NS + 45_000_000_000,
)


def verdict(verdict_id: str = REFUND_FAILED.id, **changes: Any) -> Verdict:
    return dataclasses.replace(REFUND_FAILED, id=verdict_id, **changes)
