"""The judge: asks a question until there is an answer that can be used, the deadline passes, or there is no point.

A question takes a slot, and from then on has `deadline_s` for everything: attempts with back-off, and one repair when
the answer is malformed, cut off, or cites what is not there. The judge keeps nothing of a conversation but its own
answers in the ledger, has no tools and follows no links.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

import structlog

from collector.clock import Clock
from collector.waiting import DeadlineError, within
from evaluators.judge.caller import Caller, Endpoint
from evaluators.judge.completion import Completion
from evaluators.judge.config import JudgeConfig, JuryConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType, UnusableAnswerError
from evaluators.judge.ledger import CallLedger, NoLedger
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.prices import LIST_PRICES, price_of
from evaluators.judge.pricing import Pricing
from evaluators.judge.question import Question, Repair
from evaluators.judge.tally import Tally
from evaluators.transcript.fence import Fence
from evaluators.verdict import JudgeInfo

log = structlog.get_logger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    value: T
    info: JudgeInfo
    repaired: bool
    answered_by: str | None = None
    """Where the endpoint names another model than was asked for: a dated one, or what a gateway chose instead."""

    @property
    def details(self) -> dict[str, object]:
        """What a verdict says of how it was answered."""
        return {"repaired": self.repaired} | ({"answered_by": self.answered_by} if self.answered_by else {})


class Judge:
    def __init__(
        self,
        config: JudgeConfig,
        *,
        endpoint: Endpoint,
        fence: Fence,
        clock: Clock,
        random: Random,
        metrics: JudgeMetrics | None = None,
        ledger: CallLedger | None = None,
        jurors: Sequence[Judge] = (),
        is_juror: bool = False,
    ) -> None:
        """Owns `endpoint` and `jurors`. `fence` gives the marks of records; see `evaluators.transcript.fence`."""
        self.fence = fence
        self.jurors = tuple(jurors)
        """Who is asked as well where this judge's answer is uncertain; see `evaluators.jury`."""
        self._is_juror = is_juror
        self._sample = 0
        self._config = config
        self._clock = clock
        self._metrics = metrics
        self._pricing = Pricing(price_of(config.model, overrides=config.prices, list_prices=LIST_PRICES))
        self._caller = Caller(
            config,
            endpoint=endpoint,
            ledger=ledger or NoLedger(),
            pricing=self._pricing,
            clock=clock,
            random=random,
            metrics=metrics,
        )

    @property
    def name(self) -> str:
        return self._config.model

    @property
    def max_record_tokens(self) -> int:
        return self._config.max_record_tokens

    async def ask(self, question: Question, *, read: Callable[[str], T]) -> Answer[T]:
        """`read` makes the answer's value of its text or raises `UnusableAnswerError`; `ask` raises `JudgeError`."""
        tally = Tally()
        started_s = self._clock.monotonic_s()
        outcome = "cancelled"
        try:
            async with self._caller.slots:
                started_s = self._clock.monotonic_s()
                self._observe()
                value, repaired = await self._within_deadline(question, read, tally)
            outcome = "repaired" if repaired else "answered" if tally.calls else "cached"
            other = tally.answered_by if tally.answered_by != self.name else None
            return Answer(value, self._info(tally, started_s), repaired, other)
        except JudgeError as err:
            outcome = err.error_type.value
            err.info = self._info(tally, started_s)
            raise
        finally:
            self._observe()
            if self._metrics is not None:
                self._metrics.ended(question.name, outcome, self._info(tally, started_s))

    def sample(self, number: int) -> Judge:
        """The same judge for one more answer to each question, asked and kept for itself; closed with this one."""
        other = copy.copy(self)
        other._sample = number  # noqa: SLF001 - a copy of our own
        return other

    @property
    def jury(self) -> JuryConfig:
        return self._config.jury

    async def shutdown(self) -> None:
        """Safe twice. What is asked afterwards fails as `judge_down`."""
        for judge in (self, *self.jurors):
            await judge._caller.shutdown()  # noqa: SLF001 - judges of our own

    async def _within_deadline(self, question: Question, read: Callable[[str], T], tally: Tally) -> tuple[T, bool]:
        deadline_s = self._config.deadline_s
        ends_at_s = self._clock.monotonic_s() + deadline_s
        answering = self._answer(question, read, tally=tally, ends_at_s=ends_at_s)
        try:
            return await within(deadline_s, answering, clock=self._clock)
        except DeadlineError as err:
            reason = f"The judge {self.name!r} gave no usable answer within {deadline_s:g} s."
            self._caller.failed(JudgeErrorType.TIMEOUT, reason=reason)
            raise JudgeError(JudgeErrorType.TIMEOUT, reason) from err

    async def _answer(
        self, question: Question, read: Callable[[str], T], *, tally: Tally, ends_at_s: float
    ) -> tuple[T, bool]:
        max_tokens = self._config.answer_tokens
        call = self._caller.call
        completion = await call(
            question, None, max_tokens=max_tokens, sample=self._sample, tally=tally, ends_at_s=ends_at_s
        )
        try:
            return _read(completion, read), False
        except UnusableAnswerError as err:
            log.debug("answer of the judge is being repaired", evaluator=question.name, error_type=err.error_type.value)
            if err.error_type is JudgeErrorType.TRUNCATED:
                max_tokens *= 2
            repair = Repair(completion.content, err)
        completion = await call(
            question, repair, max_tokens=max_tokens, sample=self._sample, tally=tally, ends_at_s=ends_at_s
        )
        try:
            return _read(completion, read), True
        except UnusableAnswerError as err:
            await self._caller.forget(tally)
            unusable = JudgeError(err.error_type, f"The judge {self.name!r} gave no usable answer twice.")
            unusable.answer = completion.content
            raise unusable from err

    def _info(self, tally: Tally, started_s: float) -> JudgeInfo:
        return tally.info(self.name, pricing=self._pricing, duration_s=self._clock.monotonic_s() - started_s)

    def _observe(self) -> None:
        if self._metrics is not None and not self._is_juror:
            self._metrics.in_flight.set(self._caller.slots.in_flight)
            self._metrics.limit.set(self._caller.slots.limit)
            self._metrics.circuit_open.set(self._caller.breaker.is_open)


def _read(completion: Completion, read: Callable[[str], T]) -> T:
    """An answer that was cut off is not read, even where what is left of it happens to be whole."""
    if completion.cut_off:
        raise UnusableAnswerError(
            "It was cut off at the limit of output: be brief.", error_type=JudgeErrorType.TRUNCATED
        )
    return read(completion.content)
