"""From a judgement to a verdict with ids, and to the decision that says why."""

from __future__ import annotations

from dataclasses import replace

from evaluators.circumstances import circumstances
from evaluators.content import digest_of
from evaluators.evaluator import Evaluator, Judgement
from evaluators.verdict import Decision, DecisionKind, Outcome, Unit, Verdict


def storable(unit: Unit) -> Unit:
    """Ids that are no valid Unicode cannot be keys of rows; each has one readable form that can."""
    conversation = unit.conversation
    conversation_id, service = _text(conversation.conversation_id), _text(conversation.service or "")
    if conversation_id == conversation.conversation_id and service == (conversation.service or ""):
        return unit
    conversation = replace(conversation, conversation_id=conversation_id, service=service or None)
    return replace(unit, conversation=conversation)


def verdict_id(unit_key: str, content_digest: str, evaluator: Evaluator) -> str:
    """The same for the same content asked in the same way, however often and wherever it is asked."""
    return digest_of(
        [
            unit_key,
            content_digest,
            evaluator.name,
            evaluator.version,
            evaluator.rubric_version,
            evaluator.judge_name,
        ]
    )


def bind(judgement: Judgement, *, unit: Unit, evaluator: Evaluator, verdict_id: str, judged_ns: int) -> Verdict:
    """Only pass and fail keep a score, whatever the evaluator gave."""
    turn, conversation = unit.turn, unit.conversation
    scored = judgement.outcome in (Outcome.PASS, Outcome.FAIL)
    return Verdict(
        id=verdict_id,
        evaluator=evaluator.name,
        evaluator_version=evaluator.version,
        rubric_version=evaluator.rubric_version,
        unit_kind=unit.kind,
        unit_key=unit.key,
        revision=unit.revision,
        conversation_id=conversation.conversation_id,
        service=conversation.service,
        agent_name=conversation.agent.name,
        agent_version=conversation.agent.version,
        trace_id="" if turn.is_stand_in else turn.trace_id,
        span_id="" if turn.is_stand_in else turn.span_id,
        target_end_ns=turn.end_ns,
        response_id=turn.response_id,
        outcome=judgement.outcome,
        score=judgement.score if scored else None,
        label=judgement.label if scored else None,
        reason=_text(judgement.reason),
        evidence=judgement.evidence,
        error_type=judgement.error_type,
        details={**circumstances(judgement, unit, evaluator), **judgement.details},
        judge=judgement.judge,
        turn_index=unit.turn_index,
        judged_ns=judged_ns,
    )


def decision_for(verdict: Verdict) -> Decision:
    kinds = {Outcome.ERROR: DecisionKind.FAILED, Outcome.NOT_ASSESSABLE: DecisionKind.NOT_ASSESSABLE}
    return Decision(
        unit_key=verdict.unit_key,
        evaluator=verdict.evaluator,
        revision=verdict.revision,
        kind=kinds.get(verdict.outcome, DecisionKind.JUDGED),
        reason=_reason(verdict),
        decided_ns=verdict.judged_ns,
        verdict_id=verdict.id,
    )


def _reason(verdict: Verdict) -> str:
    """The verdict itself holds why it passed or failed; only what is no answer needs words here."""
    if verdict.outcome not in (Outcome.ERROR, Outcome.NOT_ASSESSABLE):
        return verdict.outcome.value
    return ": ".join(word for word in (verdict.error_type, verdict.reason) if word) or verdict.outcome.value


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
