"""Judges what waits on disk: oldest first, so many at once, each judge left alone while it keeps refusing.

A job is taken, marked as begun, and on disk as such before its evaluation starts; its verdict and its removal are one
transaction. So a finished call is never made again, and only one that the death of the process cut off is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from random import Random

import structlog

from evaluators.pipeline import jobs
from evaluators.pipeline.asking import Answer
from evaluators.pipeline.binding import verdict_id
from evaluators.pipeline.jobs import Taken
from evaluators.pipeline.pacing import Pacing
from evaluators.pipeline.settling import Asked, Settling
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.wake import Wake
from evaluators.pipeline.whereabouts import whereabouts
from evaluators.store.unit_codec import decode_unit
from evaluators.store.waiting import next_due_ns
from evaluators.verdict import DecisionKind, Unit

log = structlog.get_logger(__name__)


class JudgeLane:
    def __init__(
        self, shared: Shared, *, random: Random, on_verdicts: Callable[[], None], on_rest: Callable[[], None]
    ) -> None:
        self._shared = shared
        pacing = Pacing(shared.limits, random=random)
        self._settling = Settling(shared, pacing=pacing, on_verdicts=on_verdicts)
        self._setups = {setup.name: setup for setup in shared.setups}
        self._judges: dict[str, list[str]] = {}
        for setup in shared.setups:
            self._judges.setdefault(setup.evaluator.judge_name, []).append(setup.name)
        self._brakes = {judge: pacing.brake() for judge in self._judges}
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
                await self._settling.settle(asked, brake=self._brakes[judge])
        except Exception as err:  # noqa: BLE001 - supervision point: one job must not end the lane
            log.error(  # noqa: TRY400 - a stack trace with local variables would hold people's words
                "judging cannot be settled", unit=taken.job.unit_key, error=type(err).__name__, at=whereabouts(err)
            )
            await self._settling.give_up(taken, error=err)
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
            await self._settling.drop(taken)
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
