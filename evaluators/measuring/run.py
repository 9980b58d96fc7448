"""Labelled cases through the evaluators: what is asked about each, and what came back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluators.conversation_completeness.evaluator import ConversationCompleteness
from evaluators.evaluator import Evaluator, Judgement
from evaluators.judge.judge import Judge
from evaluators.measuring.cases import Case, EvaluatorKind
from evaluators.offline import units_of
from evaluators.role_adherence.evaluator import RoleAdherence, RoleOptions
from evaluators.role_adherence.role import Role
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Outcome, Unit, UnitKind

On: TypeAlias = Literal["conversation", "turn"]
KINDS: Sequence[EvaluatorKind] = ("task_adherence", "role_adherence", "conversation_completeness")


@dataclass(frozen=True, slots=True)
class Job:
    case: Case
    kind: EvaluatorKind
    unit: Unit
    evaluator: Evaluator


@dataclass(frozen=True, slots=True)
class Answered:
    case: Case
    kind: EvaluatorKind
    unit: Unit
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Result:
    """All that one evaluator said about one case: one judgement on the conversation, or one for each turn."""

    case: Case
    kind: EvaluatorKind
    answers: tuple[Answered, ...]

    @property
    def failed(self) -> bool | None:
        """Any fail fails the case; without one, an answer that is missing leaves it open."""
        outcomes = [answer.judgement.outcome for answer in self.answers]
        if Outcome.FAIL in outcomes:
            return True
        judged = [outcome for outcome in outcomes if outcome is not Outcome.NOT_ASSESSABLE]
        return False if judged and all(outcome is Outcome.PASS for outcome in judged) else None

    @property
    def failed_turns(self) -> frozenset[int]:
        """The turns that the evidence of the fails stands in."""
        return frozenset(
            evidence.turn
            for answer in self.answers
            if answer.judgement.outcome is Outcome.FAIL
            for evidence in answer.judgement.evidence
        )


def jobs_of(cases: Iterable[Case], judge: Judge, *, on: On, kinds: Sequence[EvaluatorKind] = KINDS) -> list[Job]:
    """Task adherence and completeness of task cases, role adherence of role cases, and what an attack is aimed at."""
    return [
        Job(case, kind, unit, evaluator)
        for case in cases
        for kind in _asked(case)
        if kind in kinds
        for evaluator in (_evaluator(kind, case, judge, on),)
        for unit in units_of(case.conversation, evaluator.unit_kind)
    ]


def answered(answers: Iterable[tuple[Job, Judgement]]) -> list[Answered]:
    return [Answered(job.case, job.kind, job.unit, judgement) for job, judgement in answers]


def results_of(answered: Sequence[Answered]) -> list[Result]:
    grouped: dict[tuple[str, EvaluatorKind], list[Answered]] = {}
    for one in answered:
        grouped.setdefault((one.case.id, one.kind), []).append(one)
    return [Result(group[0].case, kind, tuple(group)) for (_, kind), group in grouped.items()]


def _asked(case: Case) -> Iterator[EvaluatorKind]:
    if case.attack is not None:
        yield case.attack.truth.evaluator
    if case.task is not None:
        yield "task_adherence"
        if case.task.completeness is not None:
            yield "conversation_completeness"
    if case.role is not None:
        yield "role_adherence"


def _evaluator(kind: EvaluatorKind, case: Case, judge: Judge, on: On) -> Evaluator:
    by_turn = on == "turn" and case.attack is None
    unit_kind = UnitKind.TURN if by_turn else UnitKind.CONVERSATION
    match kind:
        case "task_adherence":
            return TaskAdherence(judge=judge, unit_kind=unit_kind)
        case "role_adherence":
            options = RoleOptions(role=Role(product_description=case.product_description), scale="binary")
            return RoleAdherence(options, judge=judge, unit_kind=unit_kind)
        case "conversation_completeness":
            return ConversationCompleteness(judge=judge)
