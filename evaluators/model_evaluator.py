"""What every evaluator is that asks a model about a unit, whatever it asks.

An evaluator adds its options, and from them an `Asking`: the question, the form of its answer, and what is concluded
from one. What it hands over as `rubric` is all that its verdicts depend on beside the judge and the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluators.asking import NO_JUDGE, Asking, ask
from evaluators.carrying import Memory
from evaluators.content import digest_of
from evaluators.evaluator import Judgement
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.store.states import StateLedger
from evaluators.verdict import Unit, UnitKind


class ModelEvaluator:
    version: str
    """Of the class; see `Evaluator`."""

    def __init__(
        self,
        asking: Asking[Any],
        *,
        judge: Judge | None,
        name: str,
        unit_kind: UnitKind,
        rubric: Sequence[object],
        states: StateLedger | None,
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        self.rubric_version = digest_of([frame_text(""), *rubric])[:12]
        self._asking = asking
        self._judge = judge
        self._memory = Memory(states, owner=(name, self.version, self.rubric_version))

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    async def evaluate(self, unit: Unit) -> Judgement:
        return await ask(self._asking, unit, self._judge, memory=self._memory)
