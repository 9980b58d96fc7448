"""The end of one evaluation, as rows: a verdict with its decision, or a deferral."""

from __future__ import annotations

import sqlite3

from evaluators.content import digest_of
from evaluators.evaluator import Evaluator, Judgement
from evaluators.judge.errors import JudgeErrorType
from evaluators.pipeline.binding import bind, decision_for
from evaluators.pipeline.tally import Tally
from evaluators.store import attempts as attempts_table
from evaluators.store.verdicts import Place, record_decision, record_verdict, verdict_on
from evaluators.verdict import Decision, DecisionKind, Outcome, Unit, Verdict

_MONEY = ("budget", "quota")


def is_deferral(judgement: Judgement) -> bool:
    return judgement.outcome is Outcome.ERROR and judgement.retryable


def conclude(
    connection: sqlite3.Connection,
    judgement: Judgement,
    *,
    unit: Unit,
    evaluator: Evaluator,
    subject: str,
    now_ns: int,
) -> tuple[Verdict, Tally]:
    failed = verdict_on(connection, subject)  # Given up before, and asked again: what went out has its id.
    verdict_id = subject if failed is None else digest_of([subject, "again", failed.id])
    bound = bind(judgement, unit=unit, evaluator=evaluator, verdict_id=verdict_id, judged_ns=now_ns)
    decision = decision_for(bound)
    verdict = record_verdict(connection, bound, decision, subject=subject)
    attempts_table.forget(connection, subject)
    return verdict, Tally(evaluator.name, decision.kind, judgement.error_type or judgement.outcome.value)


def defer(
    connection: sqlite3.Connection, unit: Unit, evaluator: str, subject: str, judgement: Judgement, *, now_ns: int
) -> Tally:
    kind = deferral_kind(judgement)
    decision = Decision(
        unit_key=unit.key,
        evaluator=evaluator,
        revision=unit.revision,
        kind=kind,
        reason=": ".join(word for word in (judgement.error_type, judgement.reason) if word),
        decided_ns=now_ns,
    )
    record_decision(connection, Place.of(unit), decision, subject=subject)
    return Tally(evaluator, kind, judgement.error_type or "none", is_final=False)


def is_out_of_budget(judgement: Judgement) -> bool:
    """Our own budget, which is known to renew; a provider's quota is not."""
    return judgement.error_type == JudgeErrorType.BUDGET_EXHAUSTED


def deferral_kind(judgement: Judgement) -> DecisionKind:
    is_money = any(word in (judgement.error_type or "") for word in _MONEY)
    return DecisionKind.DEFERRED_BUDGET if is_money else DecisionKind.JUDGE_DOWN
