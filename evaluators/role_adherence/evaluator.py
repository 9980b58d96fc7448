"""The evaluator `role_adherence`: each agent turn adheres to the role or deviates from it.

The role is the configured one, else the system prompt's, else what the user assigns in the conversation. Graded, the
score is the share of adherent turns; binary, it is 1 only if every turn adheres. It is computed here from the judge's
answers about the single turns. Every deviation is cited and checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evaluators.asking import NO_JUDGE, Asking, ask, clean, verified
from evaluators.assessable import judged_turns
from evaluators.content import digest_of
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation
from evaluators.judge.errors import JudgeErrorType, UnusableAnswerError
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.role_adherence.answer import Deviation, RoleAnswer, TurnCheck
from evaluators.role_adherence.role import Role
from evaluators.role_adherence.rubric import RUBRIC, question
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

KIND = "role_adherence"


@dataclass(frozen=True, slots=True)
class RoleOptions:
    role: Role = field(default_factory=Role)
    scale: Literal["graded", "binary"] = "graded"
    threshold: float = 0.8
    include_reason: bool = True


class RoleAdherence:
    version = "1"

    def __init__(
        self,
        options: RoleOptions = RoleOptions(),
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.CONVERSATION,
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        rubric = [frame_text(""), RUBRIC, strict_schema(RoleAnswer), options.role.text, options.include_reason]
        self.rubric_version = digest_of([*rubric, options.scale, options.threshold])[:12]
        self._asking = Asking(KIND, RoleAnswer, self._question, self._conclude, repeatable=options.role.text or "")
        self._judge = judge
        self._options = options

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    async def evaluate(self, unit: Unit) -> Judgement:
        return await ask(self._asking, unit, self._judge)

    def _question(self, unit: Unit, record: Record) -> str:
        return question(
            role=self._options.role,
            has_system_prompt=bool((unit.conversation.system_instructions or "").strip()),
            turns=_turns_to_check(unit, record),
            include_reason=self._options.include_reason,
        )

    def _conclude(self, answer: RoleAnswer, unit: Unit, record: Record) -> Judgement:
        details: dict[str, object] = {
            "role": clean(answer.role, max_chars=300),
            "role_source": answer.role_source,
            "injection_suspected": answer.injection_suspected,
        }
        if answer.role_source == "none" and self._options.role.text is not None:
            raise UnusableAnswerError("role_source is none although the role is given.")
        if answer.role_source == "none":
            return Judgement(
                outcome=Outcome.NOT_ASSESSABLE,
                error_type="no_role",
                reason="Nothing gives the agent a role: no configured role, no system prompt, no message of the user.",
                details=details,
            )
        _require_all_turns(answer, _turns_to_check(unit, record))
        evidence: list[Evidence] = []
        checked: list[dict[str, object]] = []
        for check in answer.turns:
            deviations = _deviations(check, unit)
            evidence += [item for _, item in deviations]
            checked.append(
                {
                    "turn": check.turn,
                    "adherent": not deviations,
                    "reasoning": clean(check.reasoning, max_chars=200),
                    "deviations": [{"kind": kind, "quote": item.quote, "step": item.step} for kind, item in deviations],
                }
            )
        if not checked:
            return Judgement(
                outcome=Outcome.NOT_ASSESSABLE,
                error_type="no_agent_content",
                reason="Nothing that the agent said or did can be shown within the judge's limit.",
                details=details,
            )
        adherent = sum(not check.deviations for check in answer.turns)
        score, passed = self._score(adherent, len(answer.turns))
        deviating = [str(check.turn) for check in answer.turns if check.deviations]
        return Judgement(
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            score=score,
            label="pass" if passed else "fail",
            reason=clean(answer.summary) or (f"Deviates in turn {', '.join(deviating)}." if deviating else "In role."),
            evidence=tuple(dict.fromkeys(evidence)),
            details=details | {"turns": checked, "scale": self._options.scale, "threshold": self.threshold},
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


def _require_all_turns(answer: RoleAnswer, expected: list[int]) -> None:
    """Each turn once and no others, so that a judge can neither skip a turn nor count one twice."""
    given = [check.turn for check in answer.turns]
    if sorted(given) != expected:
        raise UnusableAnswerError(f"turns must hold exactly one entry for each of {expected}.")
    for check in answer.turns:
        if (check.adherent == "no") != bool(check.deviations):
            raise UnusableAnswerError(
                f'In turn {check.turn}, adherent must be "no" if and only if there is a deviation.'
            )


def _deviations(check: TurnCheck, unit: Unit) -> list[tuple[str, Evidence]]:
    """What checks out of the deviations of one turn; one is enough to make it deviate."""
    found: list[tuple[str, Evidence]] = []
    problems: list[UnusableAnswerError] = []
    for deviation in check.deviations:
        try:
            found.append((deviation.kind, _cited(deviation, check.turn, unit)))
        except UnusableAnswerError as err:
            problems.append(err)
    if problems and not found:
        raise problems[0]
    return found


def _cited(deviation: Deviation, turn: int, unit: Unit) -> Evidence:
    (evidence,) = verified([Citation(deviation.at, deviation.quote)], unit)
    if evidence.turn != turn:
        raise UnusableAnswerError(
            f"The deviation of turn {turn} cites {deviation.at.strip()[:40]}: cite a place of that turn.",
            error_type=JudgeErrorType.EVIDENCE,
        )
    return evidence
