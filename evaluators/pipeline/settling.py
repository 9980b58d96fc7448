"""What becomes of a job once its evaluation has ended: a verdict, another try, or a wait for its judge or for money."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from evaluators.pipeline import jobs
from evaluators.pipeline.asking import Answer
from evaluators.pipeline.brake import Brake
from evaluators.pipeline.concluding import deferral_kind, is_deferral, is_out_of_budget
from evaluators.pipeline.counting import count_tallies, count_verdict
from evaluators.pipeline.jobs import Taken
from evaluators.pipeline.pacing import Pacing
from evaluators.pipeline.selection import LEFT_OUT_OF_BUDGET, in_sample
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.tally import Tally
from evaluators.verdict import DecisionKind, Unit


@dataclass(frozen=True, slots=True)
class Asked:
    taken: Taken
    unit: Unit
    setup: EvaluatorSetup
    subject: str
    answer: Answer


class Settling:
    """Everything it does is one transaction, counted once it is on disk."""

    def __init__(self, shared: Shared, *, pacing: Pacing, on_verdicts: Callable[[], None]) -> None:
        self._shared = shared
        self._pacing = pacing
        self._on_verdicts = on_verdicts

    async def settle(self, asked: Asked, *, brake: Brake) -> None:
        """`brake` is that of its judge, and learns how it answers."""
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

    async def drop(self, taken: Taken) -> None:
        """Nothing is left to be done about it."""
        await self._apply(partial(jobs.drop, job=taken.job))

    async def give_up(self, taken: Taken, *, error: Exception) -> None:
        """It cannot be processed at all."""
        await self._apply(
            partial(
                jobs.give_up,
                job=taken.job,
                kind=DecisionKind.FAILED,
                code="unprocessable",
                reason=f"It could not be processed: {type(error).__name__}.",
                now_ns=self._shared.clock.now_ns(),
            )
        )

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
