"""The evaluator `task_adherence`: goal, rule and procedure, each pass or fail; any failure fails the whole.

The score is 1 or 0 and computed here. A fail without evidence that stands in the conversation is no verdict. The
evaluator does not say whether the user got what they wanted: an agent that rightly refuses adheres to its task.
"""

from __future__ import annotations

from evaluators.asking import Asking, clean, require_in_scope, verified
from evaluators.carrying import Carrying
from evaluators.evaluator import Judgement
from evaluators.evidence import Citation, all_placed
from evaluators.facts import Facts
from evaluators.judge.judge import Judge
from evaluators.judge.schema import strict_schema
from evaluators.model_evaluator import ModelEvaluator
from evaluators.notebook import KEEP
from evaluators.store.states import StateLedger
from evaluators.task_adherence.answer import TaskAnswer, TaskStepAnswer
from evaluators.task_adherence.policy import DEFAULT, Policy
from evaluators.task_adherence.rubric import RUBRIC, STEP_RUBRIC, question, step_question
from evaluators.task_adherence.state import Fault, TaskState, next_state, notes_of
from evaluators.transcript.record import Record
from evaluators.verdict import Evidence, Outcome, Unit, UnitKind

KIND = "task_adherence"
_WORST_LAST = ("not_applicable", "pass", "fail")


class TaskAdherence(ModelEvaluator):
    version = "2"
    threshold = 1.0

    def __init__(
        self,
        *,
        judge: Judge | None,
        name: str = KIND,
        unit_kind: UnitKind = UnitKind.TURN,
        include_reason: bool = True,
        policy: Policy = DEFAULT,
        states: StateLedger | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._include_reason = include_reason
        self._policy = policy.text
        carrying = Carrying(
            TaskStepAnswer, TaskState, self._step_question, notes_of, _conclude_step, asks_for_notes=True
        )
        super().__init__(
            Asking(KIND, TaskAnswer, self._question, _conclude, carrying=carrying, facts=facts),
            judge=judge,
            name=name,
            unit_kind=unit_kind,
            rubric=[RUBRIC, STEP_RUBRIC, KEEP, strict_schema(TaskStepAnswer), include_reason, policy.text],
            states=states,
        )

    def _question(self, unit: Unit, _: Record) -> str:
        return question(unit, include_reason=self._include_reason, policy=self._policy)

    def _step_question(self, unit: Unit, record: Record, _: TaskState | None) -> str:
        return step_question(
            unit, first_turn=record.first_turn, include_reason=self._include_reason, policy=self._policy
        )


def _conclude(answer: TaskAnswer, unit: Unit, record: Record) -> Judgement:
    return _judgement(answer, unit, _verdicts(answer), _faults(answer, unit, record))


def _conclude_step(
    answer: TaskStepAnswer, unit: Unit, record: Record, state: TaskState | None
) -> tuple[Judgement, TaskState | None]:
    verdicts, faults = _verdicts(answer), _faults(answer, unit, record)
    all_faults = [*(state.faults if state is not None else ()), *faults]
    worst = {
        name: max(verdict, state.verdicts[name] if state is not None else verdict, key=_WORST_LAST.index)
        for name, verdict in verdicts.items()
    }
    after = next_state(state, answer, unit, verdicts=worst, faults=all_faults)
    if unit.kind is UnitKind.CONVERSATION:
        return _judgement(answer, unit, worst, all_faults), after
    return _judgement(answer, unit, verdicts, faults), after


def _verdicts(answer: TaskAnswer) -> dict[str, str]:
    return {name: dimension.verdict for name, dimension in answer.dimensions.items()}


def _faults(answer: TaskAnswer, unit: Unit, record: Record) -> list[Fault]:
    found: list[Fault] = []
    for name, dimension in answer.dimensions.items():
        if dimension.verdict == "fail":
            what = f"The verdict fail on {name}"
            require_in_scope(verified(dimension.evidence, unit), unit, what=what, first_turn=record.first_turn)
            places = [(item.at, item.quote) for item in all_placed(dimension.evidence, unit)]
            found.append(Fault(name, clean(dimension.reasoning), places))
    return found


def _judgement(answer: TaskAnswer, unit: Unit, verdicts: dict[str, str], faults: list[Fault]) -> Judgement:
    """`verdicts` and `faults` may go back to turns that this answer is not about."""
    found: list[Evidence] = []
    reasoning = {name: clean(dimension.reasoning) for name, dimension in answer.dimensions.items()}
    for fault in faults:
        found += verified([Citation(at, quote) for at, quote in fault.citations], unit)
        if answer.dimensions[fault.dimension].verdict != "fail":
            reasoning[fault.dimension] = fault.reasoning
    details = {
        "dimensions": {name: {"verdict": verdict, "reasoning": reasoning[name]} for name, verdict in verdicts.items()},
        "injection_suspected": answer.injection_suspected,
    }
    if all(verdict == "not_applicable" for verdict in verdicts.values()):
        return Judgement(
            outcome=Outcome.NOT_ASSESSABLE,
            error_type="nothing_asked",
            reason=clean(answer.summary) or "Nothing was asked of the agent.",
            details=details,
        )
    failed = [name for name, verdict in verdicts.items() if verdict == "fail"]
    outcome = Outcome.FAIL if failed else Outcome.PASS
    return Judgement(
        outcome=outcome,
        score=0.0 if failed else 1.0,
        label=outcome.value,
        reason=_reason(answer, failed, reasoning),
        evidence=tuple(dict.fromkeys(found)),
        details=details,
    )


def _reason(answer: TaskAnswer, failed: list[str], reasoning: dict[str, str]) -> str:
    """The summary, behind what failed in turns that it is not about."""
    earlier = [reasoning[name] for name in failed if answer.dimensions[name].verdict != "fail"]
    words = clean(" ".join([*earlier, answer.summary]))
    return words or ", ".join(f"{name}: fail" for name in failed) or "No fault was found."
