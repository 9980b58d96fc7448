"""Makes the evaluator `agent_rubric` of its configuration."""

from __future__ import annotations

from collector.clock import SystemClock
from evaluators.agent_rubric.evaluator import AgentRubric, AgentRubricOptions
from evaluators.agent_rubric.shelf import MemoryShelf
from evaluators.asking import judge_of
from evaluators.evaluator import Evaluator
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.rubric.model import MAX_CRITERIA
from evaluators.verdict import UnitKind


def make_agent_rubric(request: EvaluatorRequest) -> Evaluator:
    """Options: `max_criteria` (15), `max_versions` (50), `threshold` (the rubric's own), `include_reason` (true)."""
    options = OptionReader(request.name, request.options)
    chosen = AgentRubricOptions(
        max_criteria=options.count("max_criteria", 15, low=1, high=MAX_CRITERIA),
        max_versions=options.count("max_versions", 50, low=1, high=1000),
        threshold=options.optional_number("threshold", low=0, high=1),
        include_reason=options.flag("include_reason", default=True),
    )
    options.finish()
    return AgentRubric(
        chosen,
        judge=judge_of(request),
        shelf=request.rubrics or MemoryShelf(),
        clock=SystemClock(),
        facts=request.facts,
        states=request.states,
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.CONVERSATION,
    )
