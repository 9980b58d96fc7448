"""An evaluator of one typed question, for models that answer with a probability and no words.

    evaluator = make_evaluator(DecisionEvaluator("Did the agent stay polite?", model, name="polite", threshold=0.75))

The score is the probability of yes. The model is shown the transcript up to a bound in bytes, has a hard deadline, and
is cancelled with whoever asks. What it gives that is no probability is an error and no score.
"""

from __future__ import annotations

import math
import secrets
from typing import Protocol

from collector.clock import Clock, SystemClock
from collector.waiting import DeadlineError, within
from evaluators.assessable import not_assessable, why_not_assessable
from evaluators.content import digest_of
from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Judgement
from evaluators.transcript.fence import Fence
from evaluators.transcript.record import record_of
from evaluators.verdict import JudgeInfo, Outcome, Unit, UnitKind

DEFAULT_THRESHOLD = 0.75
_MIN_BYTES = 4000
_BYTES_PER_TOKEN = 4


class DecisionModel(Protocol):
    @property
    def name(self) -> str: ...

    async def decide(self, question: str, text: str) -> float:
        """The probability of yes, 0 to 1."""


class DecisionEvaluator:
    version = "1"

    def __init__(
        self,
        question: str,
        model: DecisionModel,
        *,
        name: str,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
        threshold: float = DEFAULT_THRESHOLD,
        max_bytes: int = 64_000,
        deadline_s: float = 10.0,
        clock: Clock | None = None,
    ) -> None:
        if not 0 <= threshold <= 1:
            raise EvaluatorConfigError(f"The threshold of {name!r} is {threshold:g} and must be from 0 to 1.")
        if max_bytes < _MIN_BYTES or deadline_s <= 0:
            raise EvaluatorConfigError(f"{name!r} needs a max_bytes of at least {_MIN_BYTES} and a deadline_s above 0.")
        self.name = name
        self.unit_kind = unit_kind
        self.threshold = threshold
        self.rubric_version = digest_of([question, threshold, max_bytes])[:12]
        self._question = question
        self._model = model
        self._max_bytes = max_bytes
        self._deadline_s = deadline_s
        self._clock = clock or SystemClock()
        self._fence = Fence(secrets.token_bytes(32))

    @property
    def judge_name(self) -> str:
        return self._model.name

    async def evaluate(self, unit: Unit) -> Judgement:
        why = why_not_assessable(unit)
        if why is not None:
            return not_assessable(*why, judge=self.judge_name)
        record = record_of(unit.conversation, fence=self._fence, max_tokens=max(1, self._max_bytes // _BYTES_PER_TOKEN))
        text = record.text.encode("utf-8", "replace")[: self._max_bytes].decode("utf-8", "ignore")
        started_s = self._clock.monotonic_s()
        try:
            given = await within(self._deadline_s, self._model.decide(self._question, text), clock=self._clock)
        except DeadlineError:
            return self._failed("timeout", f"The model gave no answer within {self._deadline_s:g} s.", started_s)
        except Exception as err:  # noqa: BLE001 - a model of somebody else's may raise anything
            return self._failed("server_error", f"The model raised {type(err).__name__}.", started_s)
        if not _is_probability(given):
            return self._failed("malformed", "The model gave what is no probability from 0 to 1.", started_s)
        passed = given >= self.threshold
        return Judgement(
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            score=float(given),
            label="pass" if passed else "fail",
            reason=f"{self._question} Yes, with a probability of {given:.2f}; {self.threshold:.2f} is needed.",
            details={"question": self._question, "threshold": self.threshold, "coverage": record.coverage},
            judge=self._info(started_s),
        )

    def _failed(self, error_type: str, reason: str, started_s: float) -> Judgement:
        return Judgement(
            outcome=Outcome.ERROR,
            error_type=error_type,
            reason=reason,
            judge=self._info(started_s),
            retryable=error_type != "malformed",
        )

    def _info(self, started_s: float) -> JudgeInfo:
        """The model counts no tokens; what it was shown is not known in them."""
        return JudgeInfo(
            name=self.judge_name,
            calls=1,
            duration_s=self._clock.monotonic_s() - started_s,
            tokens_estimated=True,
        )


def _is_probability(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= 1
