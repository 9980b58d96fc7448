"""What happens to a waiting job, one transaction each.

A job may be gone when its evaluation ends, because a later revision took its place: then it was counted when that
happened, and is not counted again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluators.evaluator import Evaluator, Judgement
from evaluators.pipeline.concluding import conclude, defer
from evaluators.pipeline.tally import Tally
from evaluators.store import attempts as attempts_table
from evaluators.store import waiting
from evaluators.store.attempts import Attempts
from evaluators.store.verdicts import Place, insert_decision, record_decision, verdict_on, was_decided
from evaluators.store.waiting import Job
from evaluators.verdict import Decision, DecisionKind, Outcome, Unit, Verdict


@dataclass(frozen=True, slots=True)
class Taken:
    """A job that is being judged."""

    job: Job
    digest: str
    body: bytes
    attempts: Attempts
    is_answered: bool
    """A verdict on its subject was there already when it was taken."""


def take(
    connection: sqlite3.Connection, evaluators: Sequence[str], *, now_ns: int, limit: int, busy: Collection[str]
) -> list[Taken]:
    jobs = waiting.take_due(connection, evaluators, now_ns=now_ns, limit=limit, busy=busy)
    attempts_table.begin(connection, [job.subject for job in jobs], now_ns=now_ns)
    return [
        Taken(
            job,
            *waiting.unit_body(connection, job),
            attempts_table.attempts(connection, job.subject),
            is_answered(connection, job.subject),
        )
        for job in jobs
    ]


def finish(
    connection: sqlite3.Connection,
    job: Job,
    judgement: Judgement,
    *,
    unit: Unit,
    evaluator: Evaluator,
    subject: str,
    now_ns: int,
) -> tuple[Verdict, Tally | None]:
    verdict, tally = conclude(connection, judgement, unit=unit, evaluator=evaluator, subject=subject, now_ns=now_ns)
    attempts_table.forget(connection, job.subject)
    is_error = verdict.outcome is Outcome.ERROR
    was_there = waiting.bury(connection, job) if is_error else waiting.remove(connection, job)
    return verdict, tally if was_there else None


def put_off(
    connection: sqlite3.Connection,
    job: Job,
    judgement: Judgement,
    *,
    unit: Unit,
    now_ns: int,
    not_before_ns: int,
    own: bool,
    counts: bool = True,
) -> Tally | None:
    """`own`: the refusal counts against this job, since the judge answers others. `counts`: it counts at all."""
    attempts_table.stop(connection, job.subject, failed=False)
    if not waiting.put_back(connection, job, not_before_ns=not_before_ns):
        return None
    if counts:
        waiting.count_refusal(connection, job, own=own)
    return defer(connection, unit, job.evaluator, job.subject, judgement, now_ns=now_ns)


def try_later(connection: sqlite3.Connection, job: Job, *, not_before_ns: int) -> None:
    attempts_table.stop(connection, job.subject, failed=True)
    waiting.put_back(connection, job, not_before_ns=not_before_ns)


def put_back_unharmed(connection: sqlite3.Connection, job: Job) -> None:
    """The pipeline shuts down: neither a try nor an interruption."""
    attempts_table.stop(connection, job.subject, failed=False)
    waiting.put_back(connection, job, not_before_ns=job.not_before_ns)


def is_answered(connection: sqlite3.Connection, subject: str) -> bool:
    """A verdict that is no error is there already."""
    verdict = verdict_on(connection, subject)
    return verdict is not None and verdict.outcome is not Outcome.ERROR


def drop(connection: sqlite3.Connection, job: Job) -> Tally | None:
    """Nothing is left to be done about it."""
    attempts_table.forget(connection, job.subject)
    return Tally(job.evaluator, None) if waiting.remove(connection, job) else None


def give_up(
    connection: sqlite3.Connection, job: Job, *, kind: DecisionKind, code: str, reason: str, now_ns: int
) -> Tally | None:
    """Decide without a verdict, and forget the job."""
    attempts_table.forget(connection, job.subject)
    if not waiting.remove(connection, job):
        return None
    if job.dead:
        return None  # Decided when it died.
    decision = Decision(
        unit_key=job.unit_key,
        evaluator=job.evaluator,
        revision=job.revision,
        kind=kind,
        reason=reason,
        decided_ns=now_ns,
    )
    place = Place(job.conversation_id, job.service, job.turn_index)
    record_decision(connection, place, decision, subject=job.subject)
    return Tally(job.evaluator, kind, code)


def supersede(connection: sqlite3.Connection, job: Job, *, by: str, now_ns: int) -> list[Tally]:
    """A later revision came in before this one was judged."""
    waiting.remove(connection, job)
    if job.dead:
        return []  # Counted when it died.
    if not was_decided(connection, job.subject):
        decision = Decision(
            unit_key=job.unit_key,
            evaluator=job.evaluator,
            revision=job.revision,
            kind=DecisionKind.SUPERSEDED,
            reason=f"A later revision ({by}) came in before it was judged.",
            decided_ns=now_ns,
        )
        place = Place(job.conversation_id, job.service, job.turn_index)
        insert_decision(connection, place, decision, subject=job.subject, current=False)
    return [Tally(job.evaluator, DecisionKind.SUPERSEDED, "while_waiting")]
