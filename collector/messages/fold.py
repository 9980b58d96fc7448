"""One span read by several dialects: each field from the first that has it.

Order matters here, by design (rank); folding what different records say about one span is `collector.assembly.merge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from collector.model import GapKind
from collector.operation import Message, Operation, OperationKind

_FIRST = (
    "name", "service", "scope", "resource", "response_id", "previous_response_id", "model", "provider",
    "system_instructions", "tool_definitions", "events", "tool_name", "call_id", "from_agent", "to_agent", "error",
    "usage", "agent",
)  # fmt: skip
_CONTENT_GAPS = {GapKind.UNDECODABLE, GapKind.CONTENT_ELSEWHERE}


def fold(parts: Sequence[Operation]) -> Operation | None:
    """None for nothing; the parts are ordered by rank."""
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    changes: dict[str, Any] = {name: _first(parts, name) for name in _FIRST}
    changes["kind"] = next((part.kind for part in parts if part.kind is not OperationKind.OTHER), OperationKind.OTHER)
    changes |= _content(parts)
    surest = min(parts, key=lambda part: part.conversation_id_rank)
    changes |= {"conversation_id": surest.conversation_id, "conversation_id_rank": surest.conversation_id_rank}
    changes["is_error"] = any(part.is_error for part in parts)
    changes["is_internal"] = any(part.is_internal for part in parts)
    changes["dialect"] = "+".join(sorted({part.dialect for part in parts}))
    gaps = {gap for part in parts for gap in part.gaps}
    if changes["input"] is not None and changes["output"]:
        gaps -= _CONTENT_GAPS
    changes["gaps"] = tuple(sorted(gaps))
    return replace(first, **changes)


def _content(parts: Sequence[Operation]) -> dict[str, Any]:
    sent = next((part for part in parts if part.input is not None and says_anything(part.input.messages())), None)
    sent = sent or next((part for part in parts if part.input is not None), parts[0])
    given = next((part for part in parts if says_anything(part.output)), None)
    given = given or next((part for part in parts if part.output), parts[0])
    called = next((part for part in parts if part.has_arguments), parts[0])
    returned = next((part for part in parts if part.has_result), parts[0])
    return {
        "input": sent.input,
        "input_is_delta": sent.input_is_delta,
        "output": given.output,
        "arguments": called.arguments,
        "has_arguments": called.has_arguments,
        "result": returned.result,
        "has_result": returned.has_result,
    }


def says_anything(messages: Sequence[Message]) -> bool:
    return any(message.parts for message in messages)


def _first(parts: Sequence[Operation], name: str) -> Any:
    """The first value that says anything; else the first part's, which has the right empty type."""
    values = [getattr(part, name) for part in parts]
    return next((value for value in values if value not in (None, "", ())), values[0])
