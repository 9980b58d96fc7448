"""The judge: asks a question until there is an answer that can be used, the deadline passes, or there is no point.

A question takes a slot, and from then on has `deadline_s` for everything: attempts with back-off, and one repair when
the answer is malformed, cut off, or cites what is not there. While the circuit is open nothing is sent. The judge keeps
nothing of a conversation after its answer, has no tools and follows no links.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, Protocol, TypeVar

import structlog

from collector.clock import Clock
from evaluators.judge.breaker import CircuitBreaker
from evaluators.judge.completion import Completion
from evaluators.judge.concurrency import AdaptiveLimit
from evaluators.judge.config import JudgeConfig
from evaluators.judge.deadline import DeadlineError, within
from evaluators.judge.errors import JudgeError, JudgeErrorType, UnusableAnswerError
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.prices import LIST_PRICES, price_of
from evaluators.judge.question import Question, Repair
from evaluators.judge.retry import delay_s
from evaluators.judge.tally import Tally
from evaluators.transcript.fence import Fence
from evaluators.verdict import JudgeInfo

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Endpoint(Protocol):
    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        """One attempt; raises `JudgeError`."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    value: T
    info: JudgeInfo
    repaired: bool


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
    ) -> None:
        """Owns `endpoint`. `fence` gives the marks of records; see `evaluators.transcript.fence`."""
        self.fence = fence
        self._config = config
        self._endpoint = endpoint
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._slots = AdaptiveLimit(config.max_concurrency, clock=clock)
        self._breaker = CircuitBreaker(
            failures_to_open=config.breaker_failures, cooldown_s=config.breaker_cooldown_s, clock=clock
        )
        self._price = price_of(config.model, overrides=config.prices, list_prices=LIST_PRICES)
        self._closed = False
        self._reported: set[JudgeErrorType] = set()
        """What was logged since the last answer."""

    @property
    def name(self) -> str:
        return self._config.model

    @property
    def max_record_tokens(self) -> int:
        return self._config.max_record_tokens

    @property
    def is_down(self) -> bool:
        """The circuit is open: asking now fails at once, except for a probe when its time has come."""
        return self._breaker.is_open

    async def ask(self, question: Question, *, read: Callable[[str], T]) -> Answer[T]:
        """`read` makes the answer's value of its text or raises `UnusableAnswerError`; `ask` raises `JudgeError`."""
        tally = Tally()
        started_s = self._clock.monotonic_s()
        outcome = "cancelled"
        try:
            async with self._slots:
                started_s = self._clock.monotonic_s()
                self._observe()
                value, repaired = await self._within_deadline(question, read, tally)
            outcome = "repaired" if repaired else "answered"
            return Answer(value, self._info(tally, started_s), repaired)
        except JudgeError as err:
            outcome = err.error_type.value
            err.info = self._info(tally, started_s)
            raise
        finally:
            self._observe()
            if self._metrics is not None:
                self._metrics.ended(question.name, outcome, self._info(tally, started_s))

    async def shutdown(self) -> None:
        """Safe twice. What is asked afterwards fails as `judge_down`."""
        if not self._closed:
            self._closed = True
            await self._endpoint.close()

    async def _within_deadline(self, question: Question, read: Callable[[str], T], tally: Tally) -> tuple[T, bool]:
        deadline_s = self._config.deadline_s
        ends_at_s = self._clock.monotonic_s() + deadline_s
        try:
            return await within(
                deadline_s, self._answer(question, read, tally=tally, ends_at_s=ends_at_s), clock=self._clock
            )
        except DeadlineError as err:
            self._failed(JudgeErrorType.TIMEOUT)
            raise JudgeError(
                JudgeErrorType.TIMEOUT, f"The judge {self.name!r} gave no usable answer within {deadline_s:g} s."
            ) from err

    async def _answer(
        self, question: Question, read: Callable[[str], T], *, tally: Tally, ends_at_s: float
    ) -> tuple[T, bool]:
        max_tokens = self._config.answer_tokens
        completion = await self._complete(question, None, max_tokens, tally=tally, ends_at_s=ends_at_s)
        try:
            return _read(completion, read), False
        except UnusableAnswerError as err:
            log.debug("answer of the judge is being repaired", evaluator=question.name, error_type=err.error_type.value)
            if err.error_type is JudgeErrorType.TRUNCATED:
                max_tokens *= 2
            repair = Repair(completion.content, err)
        completion = await self._complete(question, repair, max_tokens, tally=tally, ends_at_s=ends_at_s)
        try:
            return _read(completion, read), True
        except UnusableAnswerError as err:
            raise JudgeError(err.error_type, f"The judge {self.name!r} gave no usable answer twice.") from err

    async def _complete(
        self, question: Question, repair: Repair | None, max_tokens: int, *, tally: Tally, ends_at_s: float
    ) -> Completion:
        last: JudgeError | None = None
        for attempt in itertools.count():
            if self._closed or not self._breaker.admit():
                raise last or JudgeError(
                    JudgeErrorType.JUDGE_DOWN,
                    f"The judge {self.name!r} is down: nothing is sent until it answers again.",
                    retry_after_s=self._breaker.retry_after_s,
                )
            try:
                completion = await self._attempt(question, repair, max_tokens, tally=tally)
            except JudgeError as err:
                last = err
                self._report(err)
            else:
                if completion.refused:
                    raise JudgeError(JudgeErrorType.REFUSED, f"The judge {self.name!r} refused to answer.")
                return completion
            wait_s = delay_s(attempt, retry_after_s=last.retry_after_s, random=self._random)
            out_of_time = self._clock.monotonic_s() + wait_s >= ends_at_s
            if not last.error_type.transient or attempt + 1 >= self._config.max_attempts or out_of_time:
                raise last
            await self._clock.sleep(wait_s)
        raise AssertionError("unreachable")

    async def _attempt(self, question: Question, repair: Repair | None, max_tokens: int, *, tally: Tally) -> Completion:
        tally.calls += 1
        settled = False
        try:
            completion = await self._endpoint.complete(question, repair=repair, max_tokens=max_tokens)
            settled = True
        except JudgeError as err:
            settled = True
            self._failed(err.error_type)
            raise
        finally:
            if not settled:
                self._breaker.abandoned()
        self._breaker.succeeded()
        self._slots.succeeded()
        self._reported.clear()
        if self._metrics is not None:
            self._metrics.attempts.labels("answered").inc()
        tally.add(completion, prompt=question.frame + question.record + question.text)
        return completion

    def _failed(self, error_type: JudgeErrorType) -> None:
        was_open = self._breaker.is_open
        if error_type.means_down:
            self._breaker.failed()
        else:
            self._breaker.succeeded()  # It answers, if only to say no.
        if error_type in (JudgeErrorType.RATE_LIMITED, JudgeErrorType.TIMEOUT):
            self._slots.overloaded()
        if self._metrics is not None:
            self._metrics.attempts.labels(error_type.value).inc()
        if self._breaker.is_open and not was_open:
            log.warning("judge is down", judge=self.name, error_type=error_type.value)

    def _report(self, error: JudgeError) -> None:
        """Each once until it answers again: before the circuit opens, nobody would hear of a key that is wrong."""
        if error.error_type.needs_someone and error.error_type not in self._reported:
            self._reported.add(error.error_type)
            log.warning("judge refuses", judge=self.name, error_type=error.error_type.value, reason=str(error))

    def _info(self, tally: Tally, started_s: float) -> JudgeInfo:
        return tally.info(self.name, price=self._price, duration_s=self._clock.monotonic_s() - started_s)

    def _observe(self) -> None:
        if self._metrics is not None:
            self._metrics.in_flight.set(self._slots.in_flight)
            self._metrics.limit.set(self._slots.limit)
            self._metrics.circuit_open.set(self._breaker.is_open)


def _read(completion: Completion, read: Callable[[str], T]) -> T:
    """An answer that was cut off is not read, even where what is left of it happens to be whole."""
    if completion.finish_reason == "length":
        raise UnusableAnswerError(
            "It was cut off at the limit of output: be brief.", error_type=JudgeErrorType.TRUNCATED
        )
    return read(completion.content)
