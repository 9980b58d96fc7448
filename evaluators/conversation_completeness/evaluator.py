"""The evaluator `conversation_completeness`: satisfied intentions of the user / all intentions.

The score is computed here from the judge's answer about each intention; an intention that the user withdrew counts in
neither number. A conversation without any intention has no score, unless it is configured to have 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from evaluators.asking import Asking, clean, verified
from evaluators.carrying import Carrying, turn_words
from evaluators.conversation_completeness.answer import (
    CompletenessAnswer,
    CompletenessStepAnswer,
    Intention,
    Update,
)
from evaluators.conversation_completeness.rubric import RUBRIC, STEP_RUBRIC, question, step_question
from evaluators.conversation_completeness.state import CompletenessState, KeptIntention, notes_of
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation, all_placed
from evaluators.facts import Facts
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.model_evaluator import ModelEvaluator
from evaluators.store.states import StateLedger
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


class ConversationCompleteness(ModelEvaluator):
    version = "2"

    def __init__(
        self,
        options: CompletenessOptions = CompletenessOptions(),
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
        states: StateLedger | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._options = options
        carrying = Carrying(
            CompletenessStepAnswer, CompletenessState, self._step_question, notes_of, self._conclude_step
        )
        rubric = [RUBRIC, STEP_RUBRIC, strict_schema(CompletenessStepAnswer), options.include_reason]
        super().__init__(
            Asking(KIND, CompletenessAnswer, self._question, self._conclude, carrying=carrying, facts=facts),
            judge=judge,
            name=name,
            unit_kind=unit_kind,
            rubric=[*rubric, options.threshold, options.strict_mode, options.without_intention],
            states=states,
        )

    def _question(self, unit: Unit, _: Record) -> str:
        return question(unit, include_reason=self._options.include_reason)

    def _step_question(self, unit: Unit, record: Record, _: CompletenessState | None) -> str:
        return step_question(unit, first_turn=record.first_turn, include_reason=self._options.include_reason)

    def _conclude(self, answer: CompletenessAnswer, unit: Unit, record: Record) -> Judgement:
        intentions = [_kept(intention, unit, record) for intention in answer.intentions]
        return self._judgement(answer, unit, intentions)

    def _conclude_step(
        self, answer: CompletenessStepAnswer, unit: Unit, record: Record, state: CompletenessState | None
    ) -> tuple[Judgement, CompletenessState | None]:
        known = list(state.intentions) if state is not None else []
        for update in answer.updates:
            if not 1 <= update.note <= len(known):
                raise UnusableAnswerError(f"There is no note {update.note}.")
            known[update.note - 1] = _updated(known[update.note - 1], update, unit)
        new = [_kept(intention, unit, record) for intention in answer.intentions]
        after = CompletenessState([*known, *new])
        about = new if unit.kind is UnitKind.TURN else after.intentions
        return self._judgement(answer, unit, about), after if after.fits else None

    def _judgement(
        self, answer: CompletenessAnswer | CompletenessStepAnswer, unit: Unit, intentions: Sequence[KeptIntention]
    ) -> Judgement:
        evidence: list[Evidence] = []
        for intention in intentions:
            if intention.satisfied == "no":
                citations = intention.evidence or [(intention.stated_at, intention.quote)]
                evidence += verified([Citation(at, quote) for at, quote in citations], unit)
        details: dict[str, object] = {
            "intentions": [
                {
                    "intention": intention.intention,
                    "turn": intention.turn,
                    "quote": intention.quote,
                    "satisfied": intention.satisfied,
                    "reasoning": intention.reasoning,
                }
                for intention in intentions
            ],
            "injection_suspected": answer.injection_suspected,
        }
        counted = [intention for intention in intentions if intention.satisfied != "void"]
        if not counted:
            return self._without_intention(answer.summary, details)
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

    def _without_intention(self, summary: str, details: dict[str, object]) -> Judgement:
        reason = clean(summary) or "The user wanted nothing that could be satisfied."
        if self._options.without_intention == "pass":
            return Judgement(
                outcome=Outcome.PASS,
                score=1.0,
                label="pass",
                reason=reason,
                details=details | {"threshold": self.threshold},
            )
        return Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type="no_intentions", reason=reason, details=details)


def _kept(intention: Intention, unit: Unit, record: Record) -> KeptIntention:
    """With the user's own words, and where it shows that the intention was not met; raises `UnusableAnswerError`."""
    first = unit.turn.index if unit.kind is UnitKind.TURN else record.first_turn
    stated = Citation(f"t{intention.turn}.user", intention.quote)
    (words,) = verified([stated], unit, by="user")
    if words.turn < first:
        turns = turn_words(first, unit.turn.index)
        raise UnusableAnswerError(f"Only intentions of {turns} are asked for, not of {intention.turn}.")
    return KeptIntention(
        intention=clean(intention.intention, max_chars=300),
        turn=words.turn,
        quote=words.quote,
        satisfied=intention.satisfied,
        reasoning=clean(intention.reasoning, max_chars=300),
        evidence=_shown(intention.evidence, intention.satisfied, unit),
    )


def _updated(known: KeptIntention, update: Update, unit: Unit) -> KeptIntention:
    return replace(
        known,
        satisfied=update.satisfied,
        reasoning=clean(update.reasoning, max_chars=300),
        evidence=_shown(update.evidence, update.satisfied, unit),
    )


def _shown(citations: list[Citation], satisfied: str, unit: Unit) -> list[tuple[str, str]]:
    """Only a no stands on evidence; none is asked for of the others."""
    if satisfied != "no":
        return []
    verified(citations, unit)
    return [(item.at, item.quote) for item in all_placed(citations, unit)]
