"""A small conversation of two turns, the first with a tool call, and what any telemetry of it comes to."""

from __future__ import annotations

from typing import Any

from collector.model import Conversation, MessageStep, ToolCallStep, ToolResultStep, Turn

PROMPT = "You are a clerk of the parcel service."
ASKED = "Where is parcel P-9?"
TOOL = "locate"
CALL = "call-00000001"
ARGUMENTS = {"parcel": "P-9"}
RESULT = {"place": "Oslo"}
TOLD = "Parcel P-9 is in Oslo."
ASKED_NEXT = "And when does it arrive?"
TOLD_NEXT = "It arrives on Friday."

CALLED = ("call", TOOL, ARGUMENTS)
RETURNED = ("result", TOOL, RESULT)
WHOLE = [(ASKED, [CALLED, RETURNED], TOLD), (ASKED_NEXT, [], TOLD_NEXT)]


def shown(conversation: Conversation) -> list[tuple[str | None, list[tuple[Any, ...]], str | None]]:
    """Each turn as (what the user said, its steps, its output)."""
    return [(turn.user_input, steps_of(turn), turn.output) for turn in conversation.turns]


def steps_of(turn: Turn) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for step in turn.steps:
        if isinstance(step, ToolCallStep):
            found.append(("call", step.name, step.arguments))
        elif isinstance(step, ToolResultStep):
            found.append(("error" if step.is_error else "result", step.name, step.result))
        elif isinstance(step, MessageStep):
            found.append(("says", step.text))
        else:
            found.append(("handoff", step.to_agent))
    return found
