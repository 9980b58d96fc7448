"""Makes the evaluator `task_adherence` of its configuration."""

from __future__ import annotations

from evaluators.asking import judge_of
from evaluators.evaluator import Evaluator
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import UnitKind


def make_task_adherence(request: EvaluatorRequest) -> Evaluator:
    """Options: `include_reason` (true)."""
    options = OptionReader(request.name, request.options)
    include_reason = options.flag("include_reason", default=True)
    options.finish()
    return TaskAdherence(
        judge=judge_of(request),
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.TURN,
        include_reason=include_reason,
        states=request.states,
        facts=request.facts,
    )
