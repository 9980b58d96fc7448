"""One call to the judge: recalled where it was answered before, else booked, made, and tried again while that helps.

While the circuit is open nothing is sent. Attempts have a number, and none is begun that the deadline would cut off.
"""

from __future__ import annotations

import itertools
from random import Random
from typing import Protocol

import structlog

from collector.clock import Clock
from evaluators.budget import Amount
from evaluators.judge.breaker import CircuitBreaker
from evaluators.judge.call_key import call_key
from evaluators.judge.completion import Completion, dump_completion, load_completion, usage_of
from evaluators.judge.concurrency import AdaptiveLimit
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.ledger import CallLedger, Entry, Recalled
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.pricing import Pricing
from evaluators.judge.question import Question, Repair
from evaluators.judge.retry import delay_s
from evaluators.judge.tally import Tally

log = structlog.get_logger(__name__)


class Endpoint(Protocol):
    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        """One attempt; raises `JudgeError`."""

    async def close(self) -> None: ...


class Caller:
    def __init__(
        self,
        config: JudgeConfig,
        *,
        endpoint: Endpoint,
        ledger: CallLedger,
        pricing: Pricing,
        clock: Clock,
        random: Random,
        metrics: JudgeMetrics | None = None,
    ) -> None:
        """Owns `endpoint`."""
        self.slots = AdaptiveLimit(config.max_concurrency, clock=clock)
        self.breaker = CircuitBreaker(
            failures_to_open=config.breaker_failures, cooldown_s=config.breaker_cooldown_s, clock=clock
        )
        self._config = config
        self._endpoint = endpoint
        self._ledger = ledger
        self._pricing = pricing
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._closed = False
        self._reported: set[JudgeErrorType] = set()
        """What was logged since the last answer."""

    async def call(
        self,
        question: Question,
        repair: Repair | None,
        *,
        max_tokens: int,
        sample: int,
        tally: Tally,
        ends_at_s: float,
    ) -> Completion:
        """Raises `JudgeError`."""
        key = call_key(self._config, question, repair, max_tokens=max_tokens, sample=sample)
        bound = self._pricing.bound(question, repair, max_tokens=max_tokens)
        last: JudgeError | None = None
        for attempt in itertools.count():
            entry = await self._ledger.open(key, bound=bound)
            if isinstance(entry, Recalled):
                return self._recalled(key, entry.answer, tally)
            if self._closed or not self.breaker.admit():
                await self._ledger.close(entry, spent=Amount(), answer=None)
                raise last or self._down()
            try:
                completion = await self._attempt(question, repair, entry, max_tokens=max_tokens, tally=tally)
            except JudgeError as err:
                last = err
                self._report(err)
            else:
                if completion.refused:
                    raise JudgeError(JudgeErrorType.REFUSED, f"The judge {self._config.model!r} refused to answer.")
                return completion
            wait_s = delay_s(attempt, retry_after_s=last.retry_after_s, random=self._random)
            out_of_time = self._clock.monotonic_s() + wait_s >= ends_at_s
            if not last.error_type.transient or attempt + 1 >= self._config.max_attempts or out_of_time:
                raise last
            await self._clock.sleep(wait_s)
        raise AssertionError("unreachable")

    def failed(self, error_type: JudgeErrorType, *, reason: str) -> None:
        """`reason` is for whoever has to end it; the type alone does not tell a wrong address from an outage."""
        was_open = self.breaker.is_open
        if error_type.means_down:
            self.breaker.failed()
        else:
            self.breaker.succeeded()  # It answers, if only to say no.
        if error_type in (JudgeErrorType.RATE_LIMITED, JudgeErrorType.TIMEOUT):
            self.slots.overloaded()
        if self._metrics is not None:
            self._metrics.attempts.labels(error_type.value).inc()
        if self.breaker.is_open and not was_open:
            log.warning("judge is down", judge=self._config.model, error_type=error_type.value, reason=reason)

    async def forget(self, tally: Tally) -> None:
        """The answers to these calls were of no use."""
        await self._ledger.forget(tally.keys)

    async def shutdown(self) -> None:
        """Safe twice. What is called afterwards fails as `judge_down`."""
        if not self._closed:
            self._closed = True
            await self._endpoint.close()

    async def _attempt(
        self, question: Question, repair: Repair | None, entry: Entry, *, max_tokens: int, tally: Tally
    ) -> Completion:
        tally.calls += 1
        seen = False
        try:
            completion = await self._endpoint.complete(question, repair=repair, max_tokens=max_tokens)
            seen = True
        except JudgeError as err:
            seen = not err.may_be_billed
            self.failed(err.error_type, reason=str(err))
            if seen:
                await self._ledger.close(entry, spent=Amount(), answer=None)
            raise
        except BaseException:
            self.breaker.abandoned()
            raise
        finally:
            if not seen:
                self._ledger.abandon(entry)
        self._answered()
        usage = usage_of(completion, prompt=question.frame + question.record + question.text)
        tally.add(completion, usage)
        tally.keys.append(entry.key)
        kept = None if completion.refused else dump_completion(completion)
        await self._ledger.close(entry, spent=self._pricing.amount(usage), answer=kept)
        return completion

    @staticmethod
    def _recalled(key: str, answer: bytes, tally: Tally) -> Completion:
        completion = load_completion(answer)
        tally.cached_calls += 1
        tally.keys.append(key)
        tally.answer(completion)
        return completion

    def _answered(self) -> None:
        self.breaker.succeeded()
        self.slots.succeeded()
        self._reported.clear()
        if self._metrics is not None:
            self._metrics.attempts.labels("answered").inc()

    def _down(self) -> JudgeError:
        return JudgeError(
            JudgeErrorType.JUDGE_DOWN,
            f"The judge {self._config.model!r} is down: nothing is sent until it answers again.",
            retry_after_s=self.breaker.retry_after_s,
        )

    def _report(self, error: JudgeError) -> None:
        """Each once until it answers again: before the circuit opens, nobody would hear of a key that is wrong."""
        if error.error_type.needs_someone and error.error_type not in self._reported:
            self._reported.add(error.error_type)
            log.warning("judge refuses", judge=self._config.model, error_type=error.error_type.value, reason=str(error))
