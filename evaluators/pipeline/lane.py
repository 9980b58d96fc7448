"""Judges what waits on disk: oldest first, so many at once, each judge left alone while it keeps refusing.

A job is taken, marked as begun, and on disk as such before its evaluation starts; its verdict and its removal are one
transaction. So a finished call is never made again, and only one that the death of the process cut off is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random

import structlog

from evaluators.pipeline import jobs
from evaluators.pipeline.asking import Answer
from evaluators.pipeline.binding import verdict_id
from evaluators.pipeline.concluding import deferral_kind, is_deferral, is_out_of_budget
from evaluators.pipeline.counting import count_tallies, count_verdict
from evaluators.pipeline.jobs import Taken
from evaluators.pipeline.pacing import Pacing
from evaluators.pipeline.selection import LEFT_OUT_OF_BUDGET, in_sample
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.tally import Tally
from evaluators.pipeline.wake import Wake
from evaluators.pipeline.whereabouts import whereabouts
from evaluators.store.unit_codec import decode_unit
from evaluators.store.waiting import next_due_ns
from evaluators.verdict import DecisionKind, Unit

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    taken: Taken
    unit: Unit
    setup: EvaluatorSetup
    subject: str
    answer: Answer


class JudgeLane:
    def __init__(
        self, shared: Shared, *, random: Random, on_verdicts: Callable[[], None], on_rest: Callable[[], None]
    ) -> None:
        self._shared = shared
        self._on_verdicts = on_verdicts
        self._pacing = Pacing(shared.limits, random=random)
        self._setups = {setup.name: setup for setup in shared.setups}
        self._judges: dict[str, list[str]] = {}
        for setup in shared.setups:
            self._judges.setdefault(setup.evaluator.judge_name, []).append(setup.name)
        self._brakes = {judge: self._pacing.brake() for judge in self._judges}
        for judge, brake in self._brakes.items():
            shared.metrics.watch_judge(judge, brake)
        self._busy: set[str] = set()
        """Subjects that are being judged."""
        self._stopping = False
        self.wake = Wake(shared.clock, on_rest=on_rest)

    @property
    def is_idle(self) -> bool:
        """Nothing is being judged, and nothing is due."""
        return not self._busy and self.wake.is_resting

    def paused_judges(self) -> Mapping[str, DecisionKind]:
        """The judges that are left alone, and why."""
        now_s = self._shared.clock.monotonic_s()
        return {
            judge: brake.why
            for judge, brake in self._brakes.items()
            if brake.is_out_of_budget(now_s=now_s) or (brake.is_on and brake.why is not DecisionKind.DEFERRED_BUDGET)
        }

    def stop_taking(self) -> None:
        self._stopping = True
        self.wake.poke()

    async def run(self) -> None:
        """Ends after `stop_taking`, when what is in flight has ended."""
        async with asyncio.TaskGroup() as group:
            while not self._stopping:
                self.wake.clear()
                taken = await self._take()
                for judge, one in taken:
                    group.create_task(self._judge(judge, one))
                if not taken:
                    await self.wake.rest(await self._pause_s())

    async def _take(self) -> list[tuple[str, Taken]]:
        free = self._shared.limits.max_concurrency - len(self._busy)
        now_s, now_ns = self._shared.clock.monotonic_s(), self._shared.clock.now_ns()
        found: list[tuple[str, Taken]] = []
        for judge, names in self._judges.items():
            limit = self._brakes[judge].free(now_s=now_s, wanted=free - len(found))
            if limit <= 0:
                continue
            taken = await self._shared.store.run(
                partial(jobs.take, evaluators=names, now_ns=now_ns, limit=limit, busy=tuple(self._busy))
            )
            self._brakes[judge].sent(len(taken))
            found.extend((judge, one) for one in taken)
        self._busy.update(one.job.subject for _, one in found)
        return found

    async def _pause_s(self) -> float | None:
        """Until something is due; None: until somebody pokes."""
        if len(self._busy) >= self._shared.limits.max_concurrency:
            return None
        now_s, now_ns = self._shared.clock.monotonic_s(), self._shared.clock.now_ns()
        pauses: list[float] = []
        for judge, names in self._judges.items():
            due_ns = await self._shared.store.run(partial(next_due_ns, evaluators=names, busy=tuple(self._busy)))
            resumes_s = self._brakes[judge].resumes_s(now_s=now_s)
            if due_ns is not None and resumes_s is not None:
                pauses.append(max(0.0, (due_ns - now_ns) / 1e9, resumes_s - now_s))
        return min(pauses, default=None)

    async def _judge(self, judge: str, taken: Taken) -> None:
        try:
            asked = await self._ask(taken)
            if asked is not None:
                await self._settle(judge, asked)
        except Exception as err:  # noqa: BLE001 - supervision point: one job must not end the lane
            log.error(  # noqa: TRY400 - a stack trace with local variables would hold people's words
                "judging cannot be settled", unit=taken.job.unit_key, error=type(err).__name__, at=whereabouts(err)
            )
            reason = f"It could not be processed: {type(err).__name__}."
            await self._apply(
                partial(
                    jobs.give_up,
                    job=taken.job,
                    kind=DecisionKind.FAILED,
                    code="unprocessable",
                    reason=reason,
                    now_ns=self._shared.clock.now_ns(),
                )
            )
        finally:
            self._brakes[judge].ended()
            self._busy.discard(taken.job.subject)
            self.wake.poke()

    async def _ask(self, taken: Taken) -> Asked | None:
        """None: nothing is left to be done about this job."""
        setup = self._setups[taken.job.evaluator]
        unit = decode_unit(taken.body)
        subject = verdict_id(unit.key, taken.digest, setup.evaluator)
        # The subject is another one where the evaluator was configured anew while the job waited. It may be answered
        # where the content changed and came back while it was being judged.
        is_answered = taken.is_answered
        if subject != taken.job.subject:
            is_answered = await self._shared.store.run(partial(jobs.is_answered, subject=subject))
        if is_answered:
            await self._apply(partial(jobs.drop, job=taken.job))
            return None
        interruptions = taken.attempts.interruptions
        if interruptions >= self._shared.limits.max_interruptions:
            answer = self._shared.asking.given_up(setup.evaluator, interruptions)
        else:
            answer = await self._evaluate(taken, setup, unit)
        return Asked(taken, unit, setup, subject, answer)

    async def _evaluate(self, taken: Taken, setup: EvaluatorSetup, unit: Unit) -> Answer:
        try:
            return await self._shared.asking.ask(setup.evaluator, unit, deadline_s=self._shared.limits.deadline_s)
        except asyncio.CancelledError:
            await asyncio.shield(self._shared.store.run(partial(jobs.put_back_unharmed, job=taken.job)))
            raise

    async def _settle(self, judge: str, asked: Asked) -> None:
        brake = self._brakes[judge]
        judgement = asked.answer.judgement
        if is_out_of_budget(judgement):
            brake.refused(
                now_s=self._shared.clock.monotonic_s(),
                why=DecisionKind.DEFERRED_BUDGET,
                renews_in_s=_number(judgement.details.get("retry_after_s")),
            )
            if await self._wait_for_budget(asked):
                return
        elif is_deferral(judgement):
            was_down = brake.is_on
            brake.refused(now_s=self._shared.clock.monotonic_s(), why=deferral_kind(judgement))
            if await self._put_off(asked, own=not was_down):
                return
        elif asked.answer.is_failed_try:
            if await self._try_later(asked):
                return
        else:
            brake.answered()
        verdict, tally = await self._shared.store.run(
            partial(
                jobs.finish,
                job=asked.taken.job,
                judgement=asked.answer.judgement,
                unit=asked.unit,
                evaluator=asked.setup.evaluator,
                subject=asked.subject,
                now_ns=self._shared.clock.now_ns(),
            )
        )
        count_verdict(self._shared.metrics, verdict)
        self._count(tally)
        self._on_verdicts()

    async def _put_off(self, asked: Asked, *, own: bool) -> bool:
        job, now_ns = asked.taken.job, self._shared.clock.now_ns()
        asked_for_s = asked.answer.judgement.details.get("retry_after_s")
        if self._pacing.is_too_late(job, now_ns=now_ns):
            return False
        await self._defer(asked, now_ns=now_ns, by_ns=self._pacing.deferral_ns(job, asked_for_s=asked_for_s), own=own)
        return True

    async def _wait_for_budget(self, asked: Asked) -> bool:
        """The brake holds until the budget renews; a restart with a larger one finds the unit due."""
        job, now_ns = asked.taken.job, self._shared.clock.now_ns()
        if not in_sample(asked.unit.conversation.key, self._shared.limits.budget_wait):
            await self._apply(
                partial(
                    jobs.give_up,
                    job=job,
                    kind=DecisionKind.DEFERRED_BUDGET,
                    code="left_out",
                    reason=f"{LEFT_OUT_OF_BUDGET} {asked.answer.judgement.reason}",
                    now_ns=now_ns,
                )
            )
            return True
        if self._pacing.is_too_late(job, now_ns=now_ns, for_budget=True):
            return False
        await self._defer(asked, now_ns=now_ns, by_ns=self._pacing.deferral_ns(job), own=False, counts=False)
        return True

    async def _defer(self, asked: Asked, *, now_ns: int, by_ns: int, own: bool, counts: bool = True) -> None:
        await self._apply(
            partial(
                jobs.put_off,
                job=asked.taken.job,
                judgement=asked.answer.judgement,
                unit=asked.unit,
                now_ns=now_ns,
                not_before_ns=now_ns + by_ns,
                own=own,
                counts=counts,
            )
        )

    async def _try_later(self, asked: Asked) -> bool:
        attempts, limits = asked.taken.attempts, self._shared.limits
        tries = attempts.tries + 1
        if tries >= limits.max_tries or attempts.interruptions >= limits.max_interruptions:
            return False
        not_before_ns = self._shared.clock.now_ns() + self._pacing.retry_ns(tries)
        await self._shared.store.run(partial(jobs.try_later, job=asked.taken.job, not_before_ns=not_before_ns))
        return True

    async def _apply(self, operation: Callable[..., Tally | None]) -> None:
        self._count(await self._shared.store.run(operation))

    def _count(self, tally: Tally | None) -> None:
        if tally is not None:
            count_tallies(self._shared.metrics, [tally])


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
