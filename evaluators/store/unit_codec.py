"""Units as JSON bytes, for work that waits on disk.

Written by field names, defaults left out; read back by the same classes, so a field that a later version adds has its
default in what an earlier one wrote.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

from collector.model import (
    Agent,
    Conversation,
    ConversationIdSource,
    GapKind,
    HandoffStep,
    MessageStep,
    Step,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
    TurnStatus,
)
from evaluators.store.encoding import dump, load
from evaluators.verdict import Unit, UnitKind

_STEPS: Mapping[str, type[Step]] = {
    "message": MessageStep,
    "tool_call": ToolCallStep,
    "tool_result": ToolResultStep,
    "handoff": HandoffStep,
}


def encode_unit(unit: Unit) -> bytes:
    return dump(
        {
            "kind": unit.kind.value,
            "turn_index": unit.turn_index,
            "revision": unit.revision,
            "ended": unit.ended,
            "conversation": {
                **_fields(unit.conversation, leave_out=("agent", "turns", "tool_definitions")),
                "agent": _fields(unit.conversation.agent),
                "tool_definitions": [_fields(tool) for tool in unit.conversation.tool_definitions],
                "turns": [
                    {**_fields(turn, leave_out=("steps",)), "steps": [_step(step) for step in turn.steps]}
                    for turn in unit.conversation.turns
                ],
            },
        }
    )


def decode_unit(body: bytes) -> Unit:
    """Raises `ValueError`, `KeyError` or `TypeError` for what `encode_unit` did not write."""
    record: Any = load(body)
    conversation = record["conversation"]
    return Unit(
        kind=UnitKind(record["kind"]),
        turn_index=record["turn_index"],
        revision=record["revision"],
        ended=record.get("ended", False),
        conversation=Conversation(
            **{
                **conversation,
                "conversation_id_source": ConversationIdSource(conversation["conversation_id_source"]),
                "agent": Agent(**conversation["agent"]),
                "tool_definitions": tuple(ToolDefinition(**tool) for tool in conversation["tool_definitions"]),
                "turns": tuple(_turn(turn) for turn in conversation["turns"]),
            }
        ),
    )


def _fields(value: Any, *, leave_out: tuple[str, ...] = ()) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in _names(type(value)):  # type: ignore[arg-type]  # Classes are hashable.
        if name in leave_out:
            continue
        item = getattr(value, name)
        if item is None or item == ():
            continue
        found[name] = item.value if isinstance(item, Enum) else item
    return found


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _step(step: Step) -> dict[str, object]:
    return _fields(step)


def _turn(record: dict[str, Any]) -> Turn:
    return Turn(
        **{
            **record,
            "status": TurnStatus(record["status"]),
            "gaps": tuple(GapKind(gap) for gap in record.get("gaps", ())),
            "steps": tuple(_step_from(step) for step in record["steps"]),
        }
    )


def _step_from(record: dict[str, Any]) -> Step:
    made = _STEPS[record["kind"]]
    required = {"arguments": None} if made is ToolCallStep else {"result": None} if made is ToolResultStep else {}
    return made(**{**required, **record})
