"""A pace for requests: so many a minute at most, evenly, whatever the number of questions in flight.

Who would have to wait longer than a judgement may last is told so at once, and comes back later.
"""

from __future__ import annotations

from collector.clock import Clock
from evaluators.judge.caller import Endpoint
from evaluators.judge.completion import Completion
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.question import Question, Repair


class ThrottledEndpoint:
    def __init__(self, endpoint: Endpoint, *, requests_per_minute: float, max_wait_s: float, clock: Clock) -> None:
        self._endpoint = endpoint
        self._interval_s = 60.0 / requests_per_minute
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._next_s = float("-inf")

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        now_s = self._clock.monotonic_s()
        turn_s = max(now_s, self._next_s)
        wait_s = turn_s - now_s
        if wait_s >= self._max_wait_s:
            raise JudgeError(
                JudgeErrorType.RATE_LIMITED,
                f"The judge's pace of one request in {self._interval_s:g} s is used up for the next {wait_s:.0f} s.",
                retry_after_s=wait_s,
            )
        self._next_s = turn_s + self._interval_s
        if wait_s > 0:
            await self._clock.sleep(wait_s)
        return await self._endpoint.complete(question, repair=repair, max_tokens=max_tokens)

    async def close(self) -> None:
        await self._endpoint.close()
