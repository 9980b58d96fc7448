"""The short way for a message in the two forms that nearly all telemetry has, told by its keys.

`{role, parts}` of the semantic conventions and `{role, content}` of OpenAI's chat, in which nothing is left to guess.
Gives what `shapes.messages_of` gives; says nothing of any other form.
"""

from __future__ import annotations

from typing import Any

from collector.messages.digests import digest
from collector.messages.markers import gaps_in
from collector.messages.parts import usual_parts
from collector.messages.roles import role_of
from collector.messages.written import may_ask, may_spell
from collector.model import GapKind
from collector.operation import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart

_KEYS = frozenset({"role", "parts", "content", "finish_reason"})


def usual_message(value: Any) -> Message | None:
    """None for what is to be read the long way."""
    if type(value) is not dict or not value.keys() <= _KEYS:
        return None
    role = role_of(value.get("role"))
    content = value.get("parts")
    if content is None:
        content = value.get("content")
    parts = usual_parts(content) if role is not None else None
    if role is None or parts is None:
        return None
    if role is Role.ASSISTANT and parts and (may_ask(parts[-1]) or (len(parts) > 1 and any(map(may_spell, parts)))):
        return None
    # Results within what somebody said, and a tool's message without one, are taken apart elsewhere.
    if any([isinstance(part, ToolResultPart) for part in parts]) is not (role is Role.TOOL):  # noqa: C419 - quicker
        return None
    return Message(role, parts, None, digest(role, parts), _gaps(parts))


def _gaps(parts: tuple[Part, ...]) -> tuple[GapKind, ...]:
    found: list[GapKind] = []
    for part in parts:
        if isinstance(part, TextPart):
            found += gaps_in(part.text)
        elif isinstance(part, ToolResultPart):
            found += gaps_in(part.result) if isinstance(part.result, str) else ()
        elif isinstance(part, ToolCallPart):
            found += gaps_in(part.arguments) if isinstance(part.arguments, str) else ()
    return tuple(sorted(set(found))) if found else ()
