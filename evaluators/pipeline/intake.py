"""Takes submitted units in order, decides on them, and evaluates at once what needs no one outside.

A batch costs two commits however large it is: one for the plan, one for the verdicts. A unit is settled when the second
is on disk: each of its evaluators has then decided, or has the unit on disk in front of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog

from evaluators.pipeline.asking import Answer
from evaluators.pipeline.concluding import conclude, defer, is_deferral
from evaluators.pipeline.counting import count_tallies, count_verdict
from evaluators.pipeline.jobs import supersede
from evaluators.pipeline.planning import Ask, Plan, Planner
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.tally import Tally
from evaluators.pipeline.unit_queue import Submission, UnitQueue
from evaluators.pipeline.whereabouts import whereabouts
from evaluators.store import attempts as attempts_table
from evaluators.store.waiting import enqueue, find_job
from evaluators.verdict import DecisionKind, Outcome, Verdict

log = structlog.get_logger(__name__)

_BATCH_ITEMS = 64


class Intake:
    def __init__(
        self,
        shared: Shared,
        queue: UnitQueue,
        *,
        paused_judges: Callable[[], Mapping[str, DecisionKind]],
        on_enqueued: Callable[[int], Awaitable[None]],
        on_verdicts: Callable[[], None],
    ) -> None:
        self._shared = shared
        self._queue = queue
        self._paused_judges = paused_judges
        self._on_enqueued = on_enqueued
        self._on_verdicts = on_verdicts

    async def run(self) -> None:
        while True:
            batch = await self._queue.take(max_items=_BATCH_ITEMS)
            try:
                await self._process_all(batch)
            finally:
                await self._queue.release(batch)

    async def _process_all(self, batch: Sequence[Submission]) -> None:
        try:
            await self._process(batch)
        except Exception as err:  # noqa: BLE001 - supervision point: a unit must not take its neighbours along
            if len(batch) > 1:
                for submission in batch:
                    await self._process_all([submission])
                return
            unit = batch[0].unit
            conversation = unit.conversation.key
            log.error(  # noqa: TRY400 - a stack trace with local variables would hold people's words
                "unit cannot be processed", conversation=conversation, error=type(err).__name__, at=whereabouts(err)
            )
            for setup in self._shared.setups:
                if setup.evaluator.unit_kind is unit.kind:
                    self._shared.metrics.submitted.labels(setup.name).inc()
                    count_tallies(self._shared.metrics, [Tally(setup.name, DecisionKind.FAILED, "unprocessable")])
        for submission in batch:
            if submission.on_settled is not None:
                submission.on_settled()

    async def _process(self, batch: Sequence[Submission]) -> None:
        shared = self._shared
        planner = Planner(
            setups=shared.setups,
            now_ns=shared.clock.now_ns(),
            paused_judges=self._paused_judges(),
            budget_wait=shared.limits.budget_wait,
        )
        plan = await shared.store.run(lambda connection: planner.plan(connection, batch))
        answers = [(ask, await self._ask(ask)) for ask in plan.asks]
        verdicts: list[Verdict] = []
        tallies: list[Tally] = []
        if answers:
            now_ns = shared.clock.now_ns()
            verdicts, tallies = await shared.store.run(lambda connection: _finish(connection, answers, now_ns=now_ns))
        self._count(plan, verdicts, tallies)
        if plan.enqueued_bytes or any(not tally.is_final for tally in tallies):
            await self._on_enqueued(plan.enqueued_bytes)
        self._on_verdicts()

    async def _ask(self, ask: Ask) -> Answer:
        shared, evaluator = self._shared, ask.setup.evaluator
        if ask.attempts.interruptions >= shared.limits.max_interruptions:
            return shared.asking.given_up(evaluator, ask.attempts.interruptions)
        for _ in range(shared.limits.max_tries):
            answer = await shared.asking.ask(
                evaluator, ask.submission.unit, deadline_s=shared.limits.immediate_deadline_s
            )
            if not answer.is_failed_try:
                break
        return answer

    def _count(self, plan: Plan, verdicts: Sequence[Verdict], tallies: Sequence[Tally]) -> None:
        for name in plan.offered:
            self._shared.metrics.submitted.labels(name).inc()
        count_tallies(self._shared.metrics, [*plan.tallies, *tallies])
        for verdict in verdicts:
            count_verdict(self._shared.metrics, verdict)


def _finish(
    connection: sqlite3.Connection, answers: Sequence[tuple[Ask, Answer]], *, now_ns: int
) -> tuple[list[Verdict], list[Tally]]:
    verdicts: list[Verdict] = []
    tallies: list[Tally] = []
    for ask, answer in answers:
        # An earlier revision in the same batch may have been put off just now.
        job = find_job(connection, ask.submission.unit.key, ask.setup.name)
        if job is not None:
            tallies += supersede(connection, job, by=ask.subject, now_ns=now_ns)
        if is_deferral(answer.judgement):
            _enqueue(connection, ask, dead=False)
            tallies.append(
                defer(connection, ask.submission.unit, ask.setup.name, ask.subject, answer.judgement, now_ns=now_ns)
            )
            attempts_table.stop(connection, ask.subject, failed=False)
            continue
        verdict, tally = conclude(
            connection,
            answer.judgement,
            unit=ask.submission.unit,
            evaluator=ask.setup.evaluator,
            subject=ask.subject,
            now_ns=now_ns,
        )
        if verdict.outcome is Outcome.ERROR:
            _enqueue(connection, ask, dead=True)
        verdicts.append(verdict)
        tallies.append(tally)
    return verdicts, tallies


def _enqueue(connection: sqlite3.Connection, ask: Ask, *, dead: bool) -> None:
    enqueue(
        connection,
        ask.submission.unit,
        digest=ask.submission.digest,
        subject=ask.subject,
        evaluator=ask.setup.name,
        enqueued_ns=ask.submission.submitted_ns,
        dead=dead,
    )
