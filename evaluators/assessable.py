"""Whether there is anything to judge in a unit, found without asking a judge."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import GapKind, MessageStep, ToolCallStep, Turn, TurnStatus
from evaluators.evaluator import Judgement
from evaluators.verdict import JudgeInfo, Outcome, Unit, UnitKind

_CONTENT_GAPS = frozenset({GapKind.CONTENT_OFF, GapKind.CONTENT_ELSEWHERE})


def not_assessable(error_type: str, reason: str, *, judge: str) -> Judgement:
    return Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type=error_type, reason=reason, judge=JudgeInfo(name=judge))


def judged_turns(unit: Unit) -> Sequence[Turn]:
    """The turns that a verdict on the unit is about."""
    return (unit.turn,) if unit.kind is UnitKind.TURN else unit.conversation.turns


def has_agent_content(turn: Turn) -> bool:
    if (turn.output or "").strip():
        return True
    return any(
        isinstance(step, ToolCallStep) or (isinstance(step, MessageStep) and bool(step.text.strip()))
        for step in turn.steps
    )


def why_not_assessable(unit: Unit) -> tuple[str, str] | None:
    """Error type and reason; None when there is something to judge."""
    if not unit.conversation.turns:
        return "no_turns", "The conversation has no turn."
    turns = judged_turns(unit)
    if any(_has_words(turn) for turn in turns):
        if not any(has_agent_content(turn) for turn in turns):
            return "no_agent_content", "The telemetry holds nothing that the agent said or did."
        if all(turn.status is TurnStatus.INCOMPLETE for turn in turns):
            return "incomplete", "The turn had not ended when it was recorded."
        return None
    if any(_CONTENT_GAPS.intersection(turn.gaps) for turn in turns):
        return (
            "content_off",
            "The telemetry carries no message content: turn on content capture in the agent's instrumentation.",
        )
    return "no_content", "The telemetry holds no message of the user and none of the agent."


def _has_words(turn: Turn) -> bool:
    """Calls alone are structure: without any message nobody knows what they were for."""
    said = any(isinstance(step, MessageStep) and step.text.strip() for step in turn.steps)
    return bool((turn.user_input or "").strip() or (turn.output or "").strip() or said)
