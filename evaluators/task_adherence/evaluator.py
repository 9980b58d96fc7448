"""The evaluator `task_adherence`: goal, rule and procedure, each pass or fail; any failure fails the whole.

The score is 1 or 0 and computed here. A fail without evidence that stands in the conversation is no verdict. The
evaluator does not say whether the user got what they wanted: an agent that rightly refuses adheres to its task.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators import evidence
from evaluators.asking import NO_JUDGE, Asking, ask, clean, require_in_scope, verified
from evaluators.content import digest_of
from evaluators.evaluator import Judgement
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.task_adherence.answer import Dimension, TaskAnswer
from evaluators.task_adherence.rubric import RUBRIC, question
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

KIND = "task_adherence"


class TaskAdherence:
    version = "1"
    threshold = 1.0

    def __init__(
        self,
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.TURN,
        include_reason: bool = True,
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        self.rubric_version = digest_of([frame_text(""), RUBRIC, strict_schema(TaskAnswer), include_reason])[:12]
        self._asking = Asking(KIND, TaskAnswer, self._question, _conclude)
        self._judge = judge
        self._include_reason = include_reason

    @property
    def judge_name(self) -> str:
        return self._judge.name if self._judge is not None else NO_JUDGE

    async def evaluate(self, unit: Unit) -> Judgement:
        return await ask(self._asking, unit, self._judge)

    def _question(self, unit: Unit, _: Record) -> str:
        return question(unit, include_reason=self._include_reason)


def _conclude(answer: TaskAnswer, unit: Unit, _: Record) -> Judgement:
    dimensions: Mapping[str, Dimension] = {"goal": answer.goal, "rule": answer.rule, "procedure": answer.procedure}
    found: list[Evidence] = []
    for name, dimension in dimensions.items():
        if dimension.verdict == "fail":
            cited = verified([evidence.Citation(item.at, item.quote) for item in dimension.evidence], unit)
            require_in_scope(cited, unit, what=f"The verdict fail on {name}")
            found += cited
    failed = [name for name, dimension in dimensions.items() if dimension.verdict == "fail"]
    details = {
        "dimensions": {
            name: {"verdict": dimension.verdict, "reasoning": clean(dimension.reasoning)}
            for name, dimension in dimensions.items()
        },
        "injection_suspected": answer.injection_suspected,
    }
    if all(dimension.verdict == "not_applicable" for dimension in dimensions.values()):
        return Judgement(
            outcome=Outcome.NOT_ASSESSABLE,
            error_type="nothing_asked",
            reason=clean(answer.summary) or "Nothing was asked of the agent.",
            details=details,
        )
    outcome = Outcome.FAIL if failed else Outcome.PASS
    return Judgement(
        outcome=outcome,
        score=0.0 if failed else 1.0,
        label=outcome.value,
        reason=clean(answer.summary) or ", ".join(f"{name}: fail" for name in failed) or "No fault was found.",
        evidence=tuple(dict.fromkeys(found)),
        details=details,
    )
