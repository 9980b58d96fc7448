"""The evaluator `role_adherence`: each agent turn adheres to the role or deviates from it.

The role is the configured one, else the system prompt's, else what the user assigns in the conversation. Graded, the
score is the share of adherent turns; binary, it is 1 only if every turn adheres. It is computed here from the judge's
answers about the single turns. Every deviation is cited and checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec.structs import replace

from evaluators.asking import MAX_REASON_CHARS, Asking, clean, verified
from evaluators.assessable import judged_turns
from evaluators.carrying import Carrying
from evaluators.evaluator import Judgement
from evaluators.evidence import MAX_CITATIONS, MAX_QUOTE_CHARS, Citation, placed
from evaluators.facts import Facts
from evaluators.judge.errors import JudgeErrorType, UnusableAnswerError
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.model_evaluator import ModelEvaluator
from evaluators.role_adherence.answer import Deviation, RoleAnswer, TurnCheck
from evaluators.role_adherence.role import Role
from evaluators.role_adherence.rubric import RUBRIC, question
from evaluators.role_adherence.state import Checked, KeptDeviation, RoleState, notes_of
from evaluators.store.states import StateLedger
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

KIND = "role_adherence"
_MAX_TOLD_CHARS = 80
_MAX_ROLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class RoleOptions:
    role: Role = field(default_factory=Role)
    scale: Literal["graded", "binary"] = "graded"
    threshold: float = 0.8
    include_reason: bool = True


class RoleAdherence(ModelEvaluator):
    version = "2"

    def __init__(
        self,
        options: RoleOptions = RoleOptions(),
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
        states: StateLedger | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._options = options
        asking = Asking(
            KIND,
            RoleAnswer,
            self._question,
            lambda answer, unit, record: self._conclude(answer, unit, record, None)[0],
            repeatable=options.role.text or "",
            carrying=Carrying(RoleAnswer, RoleState, self._question, notes_of, self._conclude),
            facts=facts,
        )
        rubric = [RUBRIC, strict_schema(RoleAnswer), options.role.text, options.include_reason]
        super().__init__(
            asking,
            judge=judge,
            name=name,
            unit_kind=unit_kind,
            rubric=[*rubric, options.scale, options.threshold],
            states=states,
        )

    def _question(self, unit: Unit, record: Record, state: RoleState | None = None) -> str:
        return question(
            role=self._options.role,
            has_system_prompt=bool((unit.conversation.system_instructions or "").strip()),
            turns=_turns_to_check(unit, record),
            include_reason=self._options.include_reason,
            state=state,
        )

    def _conclude(
        self, answer: RoleAnswer, unit: Unit, record: Record, state: RoleState | None
    ) -> tuple[Judgement, RoleState | None]:
        expected = _turns_to_check(unit, record)
        self._require_role(answer, state)
        new = [] if answer.role_source == "none" else [*_checked(answer, expected, unit)]
        deviating = [check for check in new if check.deviations]
        kept = [turn for turn in expected if all(check.turn != turn for check in deviating)]
        after = RoleState(
            role=clean(answer.role, max_chars=_MAX_ROLE_CHARS),
            role_source=answer.role_source,
            adherent=[*(state.adherent if state is not None else ()), *kept],
            deviating=[*(state.deviating if state is not None else ()), *deviating],
        )
        about = after if unit.kind is UnitKind.CONVERSATION else replace(after, adherent=kept, deviating=deviating)
        reasons = {check.turn: clean(check.reasoning, max_chars=200) for check in answer.turns}
        return self._judgement(answer, unit, about, reasons), after if after.fits else None

    def _require_role(self, answer: RoleAnswer, state: RoleState | None) -> None:
        if answer.role_source != "none":
            return
        if self._options.role.text is not None:
            raise UnusableAnswerError("role_source is none although the role is given.")
        if state is not None and state.role_source != "none":
            raise UnusableAnswerError("role_source is none although earlier turns have a role.")

    def _judgement(self, answer: RoleAnswer, unit: Unit, about: RoleState, reasons: Mapping[int, str]) -> Judgement:
        details: dict[str, object] = {
            "role": about.role,
            "role_source": about.role_source,
            "injection_suspected": answer.injection_suspected,
        }
        if about.role_source == "none":
            return Judgement(
                outcome=Outcome.NOT_ASSESSABLE,
                error_type="no_role",
                reason="Nothing gives the agent a role: no configured role, no system prompt, no message of the user.",
                details=details,
            )
        evidence: list[Evidence] = []
        turns = [_told(turn, reasons.get(turn, ""), []) for turn in about.adherent]
        for check in about.deviating:
            shown = [
                (item.kind, piece)
                for item in check.deviations
                for piece in verified([Citation(item.at, item.quote)], unit)
            ]
            evidence += [piece for _, piece in shown]
            turns.append(_told(check.turn, check.reasoning, shown))
        if not turns:
            return Judgement(
                outcome=Outcome.NOT_ASSESSABLE,
                error_type="no_agent_content",
                reason="Nothing that the agent said or did can be shown within the judge's limit.",
                details=details,
            )
        score, passed = self._score(len(about.adherent), len(turns))
        return Judgement(
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            score=score,
            label="pass" if passed else "fail",
            reason=_reason(answer, about),
            evidence=tuple(dict.fromkeys(evidence)),
            details=details
            | {
                "turns": sorted(turns, key=lambda told: told["turn"]),
                "scale": self._options.scale,
                "threshold": self.threshold,
            },
        )

    @property
    def threshold(self) -> float:
        return 1.0 if self._options.scale == "binary" else self._options.threshold

    def _score(self, adherent: int, checked: int) -> tuple[float, bool]:
        score = adherent / checked
        if self._options.scale == "binary":
            score = float(adherent == checked)
        return score, score >= self.threshold


def _turns_to_check(unit: Unit, record: Record) -> list[int]:
    judged = {turn.index for turn in judged_turns(unit)}
    return [turn for turn in record.agent_turns if turn in judged]


def _checked(answer: RoleAnswer, expected: list[int], unit: Unit) -> Iterator[Checked]:
    """Each turn once and no others, so that a judge can neither skip a turn nor count one twice."""
    given = [check.turn for check in answer.turns]
    if sorted(given) != expected:
        raise UnusableAnswerError(f"turns must hold exactly one entry for each of {expected}.")
    for check in answer.turns:
        if (check.adherent == "no") != bool(check.deviations):
            raise UnusableAnswerError(
                f'In turn {check.turn}, adherent must be "no" if and only if there is a deviation.'
            )
        yield Checked(check.turn, clean(check.reasoning, max_chars=200), _deviations(check, unit))


def _deviations(check: TurnCheck, unit: Unit) -> list[KeptDeviation]:
    """What checks out of the deviations of one turn; one is enough to make it deviate."""
    found: list[KeptDeviation] = []
    problems: list[UnusableAnswerError] = []
    for deviation in check.deviations[:MAX_CITATIONS]:
        try:
            found.append(_cited(deviation, check.turn, unit))
        except UnusableAnswerError as err:
            problems.append(err)
    if problems and not found:
        raise problems[0]
    return found


def _cited(deviation: Deviation, turn: int, unit: Unit) -> KeptDeviation:
    citation = Citation(deviation.at, deviation.quote)
    (evidence,) = verified([citation], unit, by="agent")
    if evidence.turn != turn:
        raise UnusableAnswerError(
            f"The deviation of turn {turn} cites {deviation.at.strip()[:40]}: cite a place of that turn.",
            error_type=JudgeErrorType.EVIDENCE,
        )
    found = placed(citation, unit, max_chars=MAX_QUOTE_CHARS, by="agent")
    return KeptDeviation(deviation.kind, found.at, found.quote)


def _told(turn: int, reasoning: str, deviations: Sequence[tuple[str, Evidence]]) -> dict[str, Any]:
    return {
        "turn": turn,
        "adherent": not deviations,
        "reasoning": reasoning,
        "deviations": [{"kind": kind, "quote": item.quote, "step": item.step} for kind, item in deviations],
    }


def _reason(answer: RoleAnswer, about: RoleState) -> str:
    """The summary, behind the deviations of turns that it is not about; without one, each by its kind and quote."""
    new = {check.turn for check in answer.turns}
    earlier = [f"{check.reasoning} ({check.turn})" for check in about.deviating if check.turn not in new]
    words = clean(" ".join([*earlier, answer.summary])) if answer.summary.strip() else ""
    if words or not about.deviating:
        return words or "In role."
    told = [
        f"turn {check.turn}, {item.kind} ({item.quote[:_MAX_TOLD_CHARS]})"
        for check in about.deviating
        for item in check.deviations
    ]
    return clean(f"Deviates in {'; '.join(told)}.", max_chars=MAX_REASON_CHARS)
