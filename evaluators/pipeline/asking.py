"""One evaluation: bounded in time, and unable to hurt anything but its own unit.

This is a supervision point: whatever an evaluator raises becomes a judgement with the outcome `error`, and is counted.
An evaluator that does not even stop when it is cancelled is left behind, so that its slot is free again.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace

import structlog

from collector.clock import Clock
from evaluators.evaluator import Evaluator, Judgement
from evaluators.pipeline.metrics import PipelineMetrics
from evaluators.pipeline.whereabouts import whereabouts
from evaluators.verdict import JudgeInfo, Outcome, Unit

log = structlog.get_logger(__name__)

_CANCEL_GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    judgement: Judgement
    is_failed_try: bool = False
    """The evaluator raised or ran over its deadline, which may go better next time."""


class Asking:
    def __init__(self, *, clock: Clock, metrics: PipelineMetrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._left_behind: set[asyncio.Task[Judgement]] = set()

    async def ask(self, evaluator: Evaluator, unit: Unit, *, deadline_s: float) -> Answer:
        started_s = self._clock.monotonic_s()
        in_flight = self._metrics.in_flight.labels(evaluator.name)
        in_flight.inc()
        try:
            answer = await self._ask(evaluator, unit, deadline_s=deadline_s)
        finally:
            in_flight.dec()
        duration_s = self._clock.monotonic_s() - started_s
        self._metrics.seconds.labels(evaluator.name).observe(duration_s)
        if answer.is_failed_try:
            self._metrics.failed_tries.labels(evaluator.name, answer.judgement.error_type or "none").inc()
        if not answer.judgement.judge.duration_s:
            judge = replace(answer.judgement.judge, duration_s=duration_s)
            answer = replace(answer, judgement=replace(answer.judgement, judge=judge))
        return answer

    def given_up(self, evaluator: Evaluator, interruptions: int) -> Answer:
        """For a unit that was being evaluated at each of so many deaths of the process that it may be their cause."""
        self._metrics.failed_tries.labels(evaluator.name, "interrupted").inc()
        return _failed(evaluator, "interrupted", f"The process died {interruptions} times while it was evaluated.")

    async def _ask(self, evaluator: Evaluator, unit: Unit, *, deadline_s: float) -> Answer:
        task = asyncio.ensure_future(evaluator.evaluate(unit))
        timer = asyncio.ensure_future(self._clock.sleep(deadline_s))
        try:
            await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            if not task.done():
                await self._stop(task)
        if not task.done() or task.cancelled():
            log.warning("evaluation over deadline", evaluator=evaluator.name, unit=unit.key, deadline_s=deadline_s)
            return _failed(evaluator, "deadline_exceeded", f"No answer within {deadline_s:g} s.")
        error = task.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        if error is not None:
            log.warning(
                "evaluator raised",
                evaluator=evaluator.name,
                unit=unit.key,
                error=type(error).__name__,
                at=whereabouts(error),
            )
            return _failed(evaluator, "evaluator_raised", f"The evaluator raised {type(error).__name__}.")
        return _checked(evaluator, task.result())

    async def _stop(self, task: asyncio.Task[Judgement]) -> None:
        task.cancel()
        grace = asyncio.ensure_future(self._clock.sleep(_CANCEL_GRACE_S))
        try:
            await asyncio.wait({task, grace}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            grace.cancel()
            if not task.done():
                log.error("evaluation ignores its cancellation, left behind")
                self._left_behind.add(task)
                task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[Judgement]) -> None:
        self._left_behind.discard(task)
        if not task.cancelled():
            task.exception()


def _checked(evaluator: Evaluator, judgement: object) -> Answer:
    """An answer that makes no sense is an error, never a score."""
    if not isinstance(judgement, Judgement):
        return _failed(evaluator, "evaluator_raised", f"The evaluator gave a {type(judgement).__name__}, no judgement.")
    if judgement.outcome in (Outcome.PASS, Outcome.FAIL):
        score = judgement.score
        if score is None or not math.isfinite(score) or not 0 <= score <= 1:
            return Answer(
                _error(evaluator, "invalid_score", f"The evaluator gave the score {score}, not one from 0 to 1.")
            )
    return Answer(judgement)


def _failed(evaluator: Evaluator, error_type: str, reason: str) -> Answer:
    return Answer(_error(evaluator, error_type, reason), is_failed_try=True)


def _error(evaluator: Evaluator, error_type: str, reason: str) -> Judgement:
    return Judgement(
        outcome=Outcome.ERROR, reason=reason, error_type=error_type, judge=JudgeInfo(name=evaluator.judge_name)
    )
