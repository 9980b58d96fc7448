"""Makes the evaluator `task_adherence` of its configuration."""

from __future__ import annotations

from typing import cast

from evaluators.asking import judge_of
from evaluators.evaluator import Evaluator
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.task_adherence.policy import Choice, Policy
from evaluators.verdict import UnitKind


def make_task_adherence(request: EvaluatorRequest) -> Evaluator:
    """Options: `doubt` and `safety_refusal` (pass, or fail), `include_reason` (true)."""
    options = OptionReader(request.name, request.options)
    choices = [options.choice(name, "pass", of=("pass", "fail")) for name in ("doubt", "safety_refusal")]
    doubt, safety_refusal = cast("list[Choice]", choices)  # `choice` has checked them.
    include_reason = options.flag("include_reason", default=True)
    options.finish()
    return TaskAdherence(
        judge=judge_of(request),
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.TURN,
        include_reason=include_reason,
        policy=Policy(doubt, safety_refusal),
        states=request.states,
        facts=request.facts,
    )
