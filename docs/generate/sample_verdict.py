"""A verdict with everything set, so that every metric and every attribute of it is there to be listed."""

from __future__ import annotations

from evaluators.verdict import Evidence, JudgeInfo, Outcome, UnitKind, Verdict

SAMPLE = Verdict(
    id="0" * 32,
    evaluator="task_adherence",
    evaluator_version="1",
    rubric_version="1",
    unit_kind=UnitKind.TURN,
    unit_key="turn",
    revision=1,
    conversation_id="conversation",
    service="service",
    agent_name="agent",
    agent_version="1",
    trace_id="1" * 32,
    span_id="1" * 16,
    target_end_ns=1,
    response_id="response",
    outcome=Outcome.FAIL,
    score=0.0,
    label="fail",
    reason="reason",
    evidence=(Evidence(turn=0, step=0, quote="quote", span_id="1" * 16),),
    judge=JudgeInfo(name="model", calls=1, input_tokens=1, cached_input_tokens=1, output_tokens=1, cost_usd=1.0),
    judged_ns=1,
    supersedes="1" * 32,
)
