"""Between a judge and whoever answers: answers are kept and never asked for twice, or requests are written down.

Both stand in the place of an endpoint, so that everything that evaluators do (repairs, several calls a verdict) works
the same: what has an answer gets it, and what has none yet is asked for, or is in the next round of a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.clock import Clock
from evaluators.judge.caller import Endpoint
from evaluators.judge.completion import Completion
from evaluators.judge.config import JudgeConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.form import Form, body_of, first_form
from evaluators.judge.question import Question, Repair
from evaluators.measuring.answers import AnswerLog, Answers, custom_id

COMPLETIONS_URL = "/v1/chat/completions"


def batch_form(config: JudgeConfig) -> Form:
    """Nobody narrows what a batch refuses, so it has no part that a model may not know: no temperature unless one is
    set, and the schema in words too.
    """
    return replace(first_form(config), temperature=False, schema_shown=True)


_BATCH_OUTPUT_TOKENS = 16_384
"""Where nothing is configured: an answer that is cut off costs a whole round."""


class _Names:
    """Ids for requests; the same request made once more gets the next number."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, question: Question, repair: Repair | None) -> str:
        nth = 0
        while (name := custom_id(question, repair, nth=nth)) in self._taken:
            nth += 1
        self._taken.add(name)
        return name

    def give_back(self, name: str) -> None:
        self._taken.discard(name)


class KeepingEndpoint:
    """Asks `inner` only for what has no answer yet, and keeps what it answers. Failures are not kept."""

    def __init__(self, inner: Endpoint, answers: Answers, log: AnswerLog, *, clock: Clock) -> None:
        self._inner = inner
        self._answers = answers
        self._log = log
        self._clock = clock
        self._names = _Names()
        self.durations_s: list[float] = []
        """Of all answered calls, kept ones included."""
        self.calls = 0
        """Answered ones, kept ones included."""
        self.reused = 0

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        name = self._names.take(question, repair)
        kept = self._answers.kept.get(name)
        if kept is not None:
            self.reused += 1
            self.calls += 1
            if kept.duration_s is not None:
                self.durations_s.append(kept.duration_s)
            return kept.completion
        started_s = self._clock.monotonic_s()
        try:
            completion = await self._inner.complete(question, repair=repair, max_tokens=max_tokens)
        except BaseException:
            self._names.give_back(name)
            raise
        duration_s = self._clock.monotonic_s() - started_s
        self.calls += 1
        self._log.keep(name, completion, duration_s=duration_s)
        self.durations_s.append(duration_s)
        return completion

    async def close(self) -> None:
        await self._inner.close()


class BatchEndpoint:
    """Answers from files; what they do not answer is in `wanted`, in the form of an OpenAI Batch input."""

    def __init__(self, config: JudgeConfig, answers: Answers) -> None:
        self._config = config
        self._answers = answers
        self._form = batch_form(config)
        self._names = _Names()
        self.wanted: list[Mapping[str, Any]] = []
        self.used: set[str] = set()
        self.durations_s: list[float] = []
        self.missing = 0
        self.failed = 0
        self.repairs_wanted = 0

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        name = self._names.take(question, repair)
        kept = self._answers.kept.get(name)
        if kept is not None:
            self.used.add(name)
            if kept.duration_s is not None:
                self.durations_s.append(kept.duration_s)
            return kept.completion
        if self._config.max_output_tokens is None:
            max_tokens = max(max_tokens, _BATCH_OUTPUT_TOKENS)
        body = body_of(self._form, self._config, question, repair=repair, max_tokens=max_tokens)
        self.wanted.append({"custom_id": name, "method": "POST", "url": COMPLETIONS_URL, "body": body})
        failure = self._answers.failed.get(name)
        if repair is not None:
            self.repairs_wanted += 1
            raise JudgeError(repair.error.error_type, "The answer cannot be used; its repair has no answer yet.")
        if failure is not None:
            self.used.add(name)
            self.failed += 1
            raise JudgeError(JudgeErrorType.UNANSWERED, f"The batch gave no answer to it: {failure}.")
        self.missing += 1
        raise JudgeError(JudgeErrorType.UNANSWERED, "There is no answer to it yet.")

    async def close(self) -> None:
        """Nothing is open."""

    @property
    def other_models(self) -> Mapping[str, int]:
        """Models that gave answers which were used and are not called as the judge is, nor a snapshot of it."""
        asked = self._config.model.rpartition("/")[2]
        given = (kept.completion.model for name, kept in self._answers.kept.items() if name in self.used)
        return Counter(model for model in given if model and not model.rpartition("/")[2].startswith(asked))

    @property
    def strangers(self) -> int:
        """Answers to requests that were not made now: of other cases, or of another version."""
        return len({*self._answers.kept, *self._answers.failed} - self.used)
