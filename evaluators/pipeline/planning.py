"""What is to be done about submitted units, and what is decided at once: one transaction for a whole batch.

A unit whose content this evaluator has decided on already, or that already waits, changes nothing: so a replay of the
journal neither asks a judge again nor moves a decision back. Content that is known from an earlier revision and comes
with a later one has come back: its verdict is made current again, without asking.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluators.pipeline.binding import decision_for, verdict_id
from evaluators.pipeline.jobs import supersede
from evaluators.pipeline.selection import LEFT_OUT_OF_BUDGET, Skip, in_sample, skip
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.tally import Tally
from evaluators.pipeline.unit_queue import Submission
from evaluators.store import attempts as attempts_table
from evaluators.store.attempts import Attempts
from evaluators.store.verdicts import (
    Place,
    Standing,
    record_decision,
    record_verdict,
    standing,
    verdict_on,
    was_decided,
    was_judged,
)
from evaluators.store.waiting import Job, enqueue, find_job
from evaluators.verdict import Decision, DecisionKind, Unit, UnitKind

_WAITS_FOR_JUDGE = "The judge {judge} does not answer at present."
_WAITS_FOR_BUDGET = "The budget for the judge {judge} is used up; the unit waits for it to renew."


@dataclass(frozen=True, slots=True)
class Ask:
    """An immediate evaluation to be made now."""

    submission: Submission
    setup: EvaluatorSetup
    subject: str
    attempts: Attempts


@dataclass(slots=True)
class Plan:
    asks: list[Ask] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    """Name of the evaluator, once for each unit that it was offered."""
    enqueued_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Planner:
    setups: Sequence[EvaluatorSetup]
    now_ns: int
    paused_judges: Mapping[str, DecisionKind]
    """Judges that keep refusing, and why: what comes in for them is known to wait."""
    budget_wait: float = 1.0
    """Share of conversations that wait for a judge's budget."""

    def plan(self, connection: sqlite3.Connection, batch: Sequence[Submission]) -> Plan:
        plan = Plan()
        seen: set[str] = set()
        for submission in batch:
            for setup in self.setups:
                if setup.evaluator.unit_kind is submission.unit.kind:
                    plan.offered.append(setup.name)
                    self._plan_one(connection, submission, setup, plan, seen)
        attempts_table.begin(connection, [ask.subject for ask in plan.asks], now_ns=self.now_ns)
        return plan

    def _plan_one(
        self,
        connection: sqlite3.Connection,
        submission: Submission,
        setup: EvaluatorSetup,
        plan: Plan,
        seen: set[str],
    ) -> None:
        unit = submission.unit
        subject = verdict_id(unit.key, submission.digest, setup.evaluator)
        stands = standing(connection, unit.key, setup.name)
        job = find_job(connection, unit.key, setup.name)
        if subject in seen or _is_known(connection, subject, unit.revision, stands, job):
            plan.tallies.append(Tally(setup.name, None))
            return
        seen.add(subject)
        if job is not None:
            plan.tallies += supersede(connection, job, by=subject, now_ns=self.now_ns)
        left_out = skip(setup, unit)
        if left_out is not None:
            self._leave_out(connection, submission, setup, subject, left_out)
            plan.tallies.append(Tally(setup.name, left_out.kind, left_out.code))
            return
        if _came_late(connection, unit, setup):
            late = Skip(DecisionKind.FILTERED, "The conversation was judged before this turn came.", "after_close")
            if setup.after_close == "reject":
                self._leave_out(connection, submission, setup, subject, late)
            plan.tallies.append(Tally(setup.name, late.kind, late.code))
            return
        before = verdict_on(connection, subject)
        if before is not None:
            again = replace(before, revision=unit.revision, judged_ns=self.now_ns)
            record_verdict(connection, again, decision_for(again), subject=subject)
            plan.tallies.append(Tally(setup.name, None))
        elif setup.immediate:
            plan.asks.append(Ask(submission, setup, subject, attempts_table.attempts(connection, subject)))
        else:
            self._enqueue(connection, submission, setup, subject, plan)

    def _enqueue(
        self,
        connection: sqlite3.Connection,
        submission: Submission,
        setup: EvaluatorSetup,
        subject: str,
        plan: Plan,
    ) -> None:
        judge = setup.evaluator.judge_name
        paused = self.paused_judges.get(judge)
        if paused is DecisionKind.DEFERRED_BUDGET:
            conversation = submission.unit.conversation.key
            if not in_sample(conversation, self.budget_wait):
                left_out = Skip(paused, LEFT_OUT_OF_BUDGET, "left_out")
                self._leave_out(connection, submission, setup, subject, left_out)
                plan.tallies.append(Tally(setup.name, left_out.kind, left_out.code))
                return
        enqueue(
            connection,
            submission.unit,
            digest=submission.digest,
            subject=subject,
            evaluator=setup.name,
            enqueued_ns=submission.submitted_ns,
        )
        plan.enqueued_bytes += submission.size
        if paused is not None:
            reason = _WAITS_FOR_BUDGET if paused is DecisionKind.DEFERRED_BUDGET else _WAITS_FOR_JUDGE
            waits = Skip(paused, reason.format(judge=judge), paused.value)
            self._leave_out(connection, submission, setup, subject, waits)
            plan.tallies.append(Tally(setup.name, waits.kind, waits.code, is_final=False))

    def _leave_out(
        self,
        connection: sqlite3.Connection,
        submission: Submission,
        setup: EvaluatorSetup,
        subject: str,
        left_out: Skip,
    ) -> None:
        unit = submission.unit
        decision = Decision(
            unit_key=unit.key,
            evaluator=setup.name,
            revision=unit.revision,
            kind=left_out.kind,
            reason=left_out.reason,
            decided_ns=self.now_ns,
        )
        record_decision(connection, Place.of(unit), decision, subject=subject)


def _came_late(connection: sqlite3.Connection, unit: Unit, setup: EvaluatorSetup) -> bool:
    """A conversation is handed over when it is closed: one that was judged at an earlier revision was closed then."""
    if setup.after_close == "rescore" or unit.kind is not UnitKind.CONVERSATION:
        return False
    return was_judged(connection, unit.key, setup.name, before=unit.revision)


def _is_known(
    connection: sqlite3.Connection, subject: str, revision: int, stands: Standing | None, job: Job | None
) -> bool:
    if job is not None and job.subject == subject:
        return True
    if job is None and stands is not None and stands.subject == subject:
        return True
    newest = max((known.revision for known in (stands, job) if known is not None), default=-1)
    return revision <= newest and was_decided(connection, subject)
