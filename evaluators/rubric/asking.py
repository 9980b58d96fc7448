"""How a rubric is asked about and concluded from; the same for every rubric, whoever wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evaluators.asking import Asking, clean, require_in_scope, verified
from evaluators.assessable import judged_turns
from evaluators.carrying import Carrying
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation, all_placed
from evaluators.facts import Facts
from evaluators.judge.errors import JudgeErrorType, UnusableAnswerError
from evaluators.notebook import Notebook
from evaluators.rubric.answer import (
    Asked,
    CriterionAnswer,
    RubricAnswer,
    RubricStepAnswer,
    answer_type_of,
    asked_of,
    step_answer_type_of,
)
from evaluators.rubric.model import Rubric
from evaluators.rubric.question import question
from evaluators.rubric.score import Result, Tally, rating_of, score_of
from evaluators.rubric.state import KeptAnswer, RubricState, notes_of, over_all
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

_MAX_EVIDENCE = 10
_MAX_NAMED = 8
_REASONING_CHARS = 200


class RubricAsking:
    def __init__(
        self, rubric: Rubric, *, kind: str = "rubric", include_reason: bool = True, facts: Facts | None = None
    ) -> None:
        self._rubric = rubric
        self._include_reason = include_reason
        self.asking = Asking(
            kind,
            answer_type_of(rubric),
            self._question,
            self._conclude,
            repeatable=rubric.text,
            carrying=Carrying(
                step_answer_type_of(rubric),
                RubricState,
                self._step_question,
                notes_of,
                self._conclude_step,
                asks_for_notes=True,
            ),
            facts=facts,
        )

    def _question(self, unit: Unit, record: Record) -> str:
        return question(self._rubric, unit, turns=_turns(unit, record), include_reason=self._include_reason)

    def _step_question(self, unit: Unit, record: Record, _: RubricState | None) -> str:
        return question(
            self._rubric,
            unit,
            turns=_turns(unit, record),
            include_reason=self._include_reason,
            first_turn=record.first_turn,
            keeps=True,
        )

    def _conclude(self, answer: RubricAnswer, unit: Unit, record: Record) -> Judgement:
        return self._judgement(answer, unit, self._answers(answer, unit, record))

    def _conclude_step(
        self, answer: RubricStepAnswer, unit: Unit, record: Record, state: RubricState | None
    ) -> tuple[Judgement, RubricState | None]:
        new = self._answers(answer, unit, record)
        every = over_all(state.answers, new) if state is not None else new
        notebook = (state.notebook if state is not None else Notebook()).after(answer.settled, answer.notes, unit)
        after = RubricState(notebook, every) if notebook is not None else None
        about = new if unit.kind is UnitKind.TURN else every
        return self._judgement(answer, unit, about), after if after is not None and after.fits else None

    def _answers(self, answer: RubricAnswer, unit: Unit, record: Record) -> list[KeptAnswer]:
        _require_each_once(answer.answers, self._asked(unit, record))
        return [_kept(entry, unit) for entry in answer.answers]

    def _judgement(self, answer: RubricAnswer, unit: Unit, answers: Sequence[KeptAnswer]) -> Judgement:
        checked = [(kept, _pieces(kept, unit)) for kept in answers]
        tallies = [
            Tally(criterion, tuple(kept.answer for kept in answers if kept.criterion == criterion.name))
            for criterion in self._rubric.criteria
        ]
        result = score_of(self._rubric, tallies)
        details: dict[str, object] = {
            "criteria": [_listed(tally, checked) for tally in tallies],
            "assessed": result.assessed,
            "combine": self._rubric.combine,
            "threshold": self._rubric.threshold,
            "rubric": {"name": self._rubric.name, "version": self._rubric.version},
            "injection_suspected": answer.injection_suspected,
        }
        if result.score is None:
            return _without_score(result, tallies, clean(answer.summary), details)
        if self._rubric.rating:
            details["rating"] = rating_of(result.score)
        passed = result.passes(self._rubric.threshold)
        faults = [piece for kept, pieces in checked if kept.answer == "no" for piece in pieces]
        return Judgement(
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            score=result.score,
            label="pass" if passed else "fail",
            reason=clean(answer.summary) or _reason(result, tallies),
            evidence=tuple(dict.fromkeys(faults))[:_MAX_EVIDENCE],
            details=details,
        )

    def _asked(self, unit: Unit, record: Record) -> list[Asked]:
        names = [criterion.name for criterion in self._rubric.criteria]
        if not self._rubric.each_turn:
            return [Asked(name) for name in names]
        return [Asked(name, turn) for turn in _turns(unit, record) for name in names]


def _turns(unit: Unit, record: Record) -> list[int]:
    judged = {turn.index for turn in judged_turns(unit)}
    return [turn for turn in record.agent_turns if turn in judged]


def _require_each_once(answers: Sequence[CriterionAnswer], asked: Sequence[Asked]) -> None:
    """So that a judge can neither leave a criterion out nor count one twice."""
    given = Counter(asked_of(entry) for entry in answers)
    wanted = Counter(asked)
    if given == wanted:
        return
    missing, extra = list((wanted - given).keys()), list((given - wanted).keys())
    problems = [
        f"{title} {', '.join(map(str, found[:_MAX_NAMED]))}"
        for title, found in (("There is no entry for", missing), ("There is no place for an entry of", extra))
        if found
    ]
    raise UnusableAnswerError(f"{'. '.join(problems)}. Give exactly one entry for each that was asked.")


def _kept(entry: CriterionAnswer, unit: Unit) -> KeptAnswer:
    """A `no` stands on its evidence. What else is cited is shown where it checks out."""
    asked = asked_of(entry)
    if entry.answer == "no":
        found = verified(entry.evidence, unit)
        require_in_scope(found, unit, what=f"The answer no to {asked}")
        if asked.turn is not None and all(piece.turn != asked.turn for piece in found):
            raise UnusableAnswerError(
                f"The answer no to {asked} has no evidence from that turn.", error_type=JudgeErrorType.EVIDENCE
            )
    return KeptAnswer(
        criterion=entry.criterion,
        turn=asked.turn,
        answer=entry.answer,
        reasoning=clean(entry.reasoning, max_chars=_REASONING_CHARS),
        evidence=[(item.at, item.quote) for item in all_placed(entry.evidence, unit)],
    )


def _pieces(kept: KeptAnswer, unit: Unit) -> tuple[Evidence, ...]:
    return verified([Citation(at, quote) for at, quote in kept.evidence], unit)


def _listed(tally: Tally, checked: Sequence[tuple[KeptAnswer, tuple[Evidence, ...]]]) -> Mapping[str, object]:
    criterion = tally.criterion
    answers = [
        {
            **({} if kept.turn is None else {"turn": kept.turn}),
            "answer": kept.answer,
            "reasoning": kept.reasoning,
            "evidence": [{"turn": piece.turn, "step": piece.step, "quote": piece.quote} for piece in pieces],
        }
        for kept, pieces in checked
        if kept.criterion == criterion.name
    ]
    kind = {} if criterion.kind is None else {"kind": criterion.kind}
    return {"name": criterion.name, **kind, "ask": criterion.ask, "value": tally.value, "answers": answers}


def _reason(result: Result, tallies: Sequence[Tally]) -> str:
    unknown = [tally.criterion.name for tally in tallies if tally.applies and tally.value is None]
    applying = sum(tally.applies for tally in tallies)
    text = (
        f"These do not hold: {', '.join(result.broken)}."
        if result.broken
        else f"All {applying - len(unknown)} criteria that apply and could be assessed hold."
    )
    return f"{text} Not assessed: {', '.join(unknown)}." if unknown else text


def _without_score(result: Result, tallies: Sequence[Tally], summary: str, details: Mapping[str, object]) -> Judgement:
    if not any(tally.applies for tally in tallies):
        return Judgement(
            outcome=Outcome.NOT_ASSESSABLE,
            error_type="nothing_applies",
            reason=summary or "No criterion of the rubric came up.",
            details=details,
        )
    unknown = ", ".join(tally.criterion.name for tally in tallies if tally.counts.get("cannot_assess"))
    reason = f"Only {result.assessed:.0%} of what applies could be assessed; not: {unknown}."
    return Judgement(outcome=Outcome.ABSTAIN, reason=f"{summary} {reason}".strip(), details=details)
