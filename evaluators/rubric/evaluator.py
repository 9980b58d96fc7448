"""An evaluator made of a rubric."""

from __future__ import annotations

from collector.model import ToolCallStep
from evaluators.assessable import judged_turns, not_assessable
from evaluators.evaluator import Judgement
from evaluators.facts import Facts
from evaluators.judge.judge import Judge
from evaluators.model_evaluator import ModelEvaluator
from evaluators.rubric.asking import RubricAsking
from evaluators.rubric.model import Rubric
from evaluators.rubric.question import TEXTS
from evaluators.store.states import StateLedger
from evaluators.verdict import Unit, UnitKind


class RubricEvaluator(ModelEvaluator):
    version = "2"

    def __init__(
        self,
        rubric: Rubric,
        *,
        judge: Judge | None,
        name: str,
        unit_kind: UnitKind,
        kind: str = "rubric",
        include_reason: bool = True,
        facts: Facts | None = None,
        states: StateLedger | None = None,
    ) -> None:
        """`kind` opens the question and names its schema."""
        super().__init__(
            RubricAsking(rubric, kind=kind, include_reason=include_reason, facts=facts).asking,
            judge=judge,
            name=name,
            unit_kind=unit_kind,
            rubric=[*TEXTS, rubric.version, include_reason],
            states=states,
        )
        self._rubric = rubric

    @property
    def threshold(self) -> float:
        return self._rubric.threshold

    async def evaluate(self, unit: Unit) -> Judgement:
        if self._rubric.needs_calls and not _has_calls(unit):
            return not_assessable("no_calls", "The agent called no tool.", judge=self.judge_name)
        return await super().evaluate(unit)


def _has_calls(unit: Unit) -> bool:
    return any(isinstance(step, ToolCallStep) for turn in judged_turns(unit) for step in turn.steps)
