"""An evaluator made of a rubric."""

from __future__ import annotations

from collector.model import ToolCallStep
from evaluators.asking import NO_JUDGE, ask
from evaluators.assessable import judged_turns, not_assessable
from evaluators.carrying import Memory
from evaluators.content import digest_of
from evaluators.evaluator import Judgement
from evaluators.facts import Facts
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.rubric.asking import RubricAsking
from evaluators.rubric.model import Rubric
from evaluators.rubric.question import TEXTS
from evaluators.store.states import StateLedger
from evaluators.verdict import Unit, UnitKind


class RubricEvaluator:
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
        self.name = name
        self.unit_kind = unit_kind
        self.rubric_version = digest_of([frame_text(""), *TEXTS, rubric.version, include_reason])[:12]
        self._rubric = rubric
        self._asking = RubricAsking(rubric, kind=kind, include_reason=include_reason, facts=facts).asking
        self._judge = judge
        self._memory = Memory(states, owner=(name, self.version, self.rubric_version))

    @property
    def threshold(self) -> float:
        return self._rubric.threshold

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    async def evaluate(self, unit: Unit) -> Judgement:
        if self._rubric.needs_calls and not _has_calls(unit):
            return not_assessable("no_calls", "The agent called no tool.", judge=self.judge_name)
        return await ask(self._asking, unit, self._judge, memory=self._memory)


def _has_calls(unit: Unit) -> bool:
    return any(isinstance(step, ToolCallStep) for turn in judged_turns(unit) for step in turn.steps)
