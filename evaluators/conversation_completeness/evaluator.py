"""The evaluator `conversation_completeness`: satisfied intentions of the user / all intentions.

The score is computed here from the judge's answer about each intention; an intention that the user withdrew counts in
neither number. A conversation without any intention has no score, unless it is configured to have 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluators.asking import NO_JUDGE, Asking, ask, clean, verified
from evaluators.content import digest_of
from evaluators.conversation_completeness.answer import CompletenessAnswer, Intention
from evaluators.conversation_completeness.rubric import RUBRIC, question
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

KIND = "conversation_completeness"


@dataclass(frozen=True, slots=True)
class CompletenessOptions:
    threshold: float = 0.5
    strict_mode: bool = False
    """The threshold is 1, and a score below it is 0."""
    include_reason: bool = True
    without_intention: Literal["not_assessable", "pass"] = "not_assessable"


class ConversationCompleteness:
    version = "1"

    def __init__(
        self,
        options: CompletenessOptions = CompletenessOptions(),
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        rubric = [frame_text(""), RUBRIC, strict_schema(CompletenessAnswer), options.include_reason]
        settings = [options.threshold, options.strict_mode, options.without_intention]
        self.rubric_version = digest_of([*rubric, *settings])[:12]
        self._asking = Asking(KIND, CompletenessAnswer, self._question, self._conclude)
        self._judge = judge
        self._options = options

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    async def evaluate(self, unit: Unit) -> Judgement:
        return await ask(self._asking, unit, self._judge)

    def _question(self, unit: Unit, _: Record) -> str:
        return question(unit, include_reason=self._options.include_reason)

    def _conclude(self, answer: CompletenessAnswer, unit: Unit, _: Record) -> Judgement:
        evidence: list[Evidence] = []
        listed: list[dict[str, object]] = []
        for intention in answer.intentions:
            stated, shown = _checked(intention, unit)
            evidence += shown or ([stated] if intention.satisfied == "no" else [])
            listed.append(
                {
                    "intention": clean(intention.intention, max_chars=300),
                    "turn": intention.turn,
                    "quote": stated.quote,
                    "satisfied": intention.satisfied,
                    "reasoning": clean(intention.reasoning, max_chars=300),
                }
            )
        counted = [intention for intention in answer.intentions if intention.satisfied != "void"]
        details: dict[str, object] = {"intentions": listed, "injection_suspected": answer.injection_suspected}
        if not counted:
            return self._without_intention(answer, details)
        satisfied = sum(intention.satisfied == "yes" for intention in counted)
        score = satisfied / len(counted)
        if self._options.strict_mode and score < 1:
            score = 0.0
        passed = score >= self.threshold
        return Judgement(
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            score=score,
            label="pass" if passed else "fail",
            reason=clean(answer.summary) or f"{satisfied} of {len(counted)} intentions are satisfied.",
            evidence=tuple(dict.fromkeys(evidence)),
            details=details | {"threshold": self.threshold},
        )

    @property
    def threshold(self) -> float:
        return 1.0 if self._options.strict_mode else self._options.threshold

    def _without_intention(self, answer: CompletenessAnswer, details: dict[str, object]) -> Judgement:
        reason = clean(answer.summary) or "The user wanted nothing that could be satisfied."
        if self._options.without_intention == "pass":
            return Judgement(
                outcome=Outcome.PASS,
                score=1.0,
                label="pass",
                reason=reason,
                details=details | {"threshold": self.threshold},
            )
        return Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type="no_intentions", reason=reason, details=details)


def _checked(intention: Intention, unit: Unit) -> tuple[Evidence, tuple[Evidence, ...]]:
    """The user's own words, and where it shows that the intention was not met."""
    if unit.kind is UnitKind.TURN and intention.turn != unit.turn.index:
        raise UnusableAnswerError(f"Only intentions of turn {unit.turn.index} are asked for, not of {intention.turn}.")
    (stated,) = verified([Citation(f"t{intention.turn}.user", intention.quote)], unit)
    shown = verified([Citation(item.at, item.quote) for item in intention.evidence], unit)
    return stated, shown if intention.satisfied == "no" else ()
