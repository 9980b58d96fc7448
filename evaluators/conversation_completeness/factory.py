"""Makes the evaluator `conversation_completeness` of its configuration."""

from __future__ import annotations

from typing import Literal, cast

from evaluators.asking import judge_of
from evaluators.conversation_completeness.evaluator import CompletenessOptions, ConversationCompleteness
from evaluators.evaluator import Evaluator
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRequest
from evaluators.verdict import UnitKind


def make_conversation_completeness(request: EvaluatorRequest) -> Evaluator:
    """Options: `threshold` (0.5), `strict_mode` (false: threshold 1, lower scores are 0), `include_reason` (true),
    `without_intention` (not_assessable, or pass for a score of 1).
    """
    options = OptionReader(request.name, request.options)
    without = options.choice("without_intention", "not_assessable", of=("not_assessable", "pass"))
    chosen = CompletenessOptions(
        threshold=options.number("threshold", 0.5, low=0, high=1),
        strict_mode=options.flag("strict_mode", default=False),
        include_reason=options.flag("include_reason", default=True),
        without_intention=cast("Literal['not_assessable', 'pass']", without),  # `choice` has checked it.
    )
    options.finish()
    return ConversationCompleteness(
        chosen,
        judge=judge_of(request),
        name=request.name,
        unit_kind=request.unit_kind or UnitKind.CONVERSATION,
        states=request.states,
        facts=request.facts,
    )
