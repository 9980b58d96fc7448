"""Message lists to turns: OpenAI chat messages and response items, Azure's, Anthropic's, OpenTelemetry's parts.

Each message is read by `collector.messages`, as in telemetry. What is added here is the strictness of an interface: a
message that is none, or whose role nobody knows, is an error and not somebody's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collector.assembly.said import text_in
from collector.messages.parts import parts_of
from collector.messages.roles import role_of
from collector.messages.shapes import messages_of
from collector.messages.values import decode, plain
from collector.messages.written import is_written
from collector.model import ToolCallStep
from collector.operation import CompactionPart, MediaPart, Message, Role, TextPart, ToolCallPart, ToolResultPart
from evaluators.errors import InputFormError
from evaluators.formats.drafting import Drafting

MAX_MESSAGES = 100_000
_KEYS = frozenset({"role", "_role", "parts", "content", "tool_calls", "message"})


_ITEMS = frozenset({"message", "function_call", "function_call_output"})


def looks_like_messages(value: object) -> bool:
    return isinstance(value, list) and any(_is_message(item) for item in value)


def read_list(value: object, drafting: Drafting, *, at: str, default: Role = Role.USER) -> None:
    """A message list, also as JSON text; a text that is none is one message of the default role."""
    found = decode(value)
    if isinstance(value, str | bytes) and not isinstance(found, str) and not _is_written_list(found):
        found = value if isinstance(value, str) else value.decode("utf-8", "replace")  # Words that happen to be JSON.
    if isinstance(found, Mapping):
        found = [found]
    if isinstance(found, str):
        read_message({"role": default.value, "content": [{"type": "text", "text": found}]}, drafting, at=at)
        return
    if not isinstance(found, Sequence) or isinstance(found, bytes):
        raise InputFormError(f"{at} must be a text or a list of messages, not {_kind(found)}.")
    if len(found) > MAX_MESSAGES:
        raise InputFormError(f"{at} has {len(found)} messages; at most {MAX_MESSAGES} are read.")
    for number, item in enumerate(found):
        read_message(item, drafting, at=f"{at}[{number}]", default=default)


def read_message(item: object, drafting: Drafting, *, at: str, default: Role = Role.USER) -> None:
    if not isinstance(item, Mapping) or not _is_message(item):
        raise InputFormError(f"{at} is no message: give an object with role and content, or an item with a known type.")
    role = item.get("role")
    if role is not None and role_of(role) is None and not is_written(role):
        shown = repr(role)[:40] if isinstance(role, str) else _kind(role)
        raise InputFormError(f"The role of {at} is {shown}; known are system, developer, user, assistant and tool.")
    body: Any = plain(_as_said(item, role_of(role) or default))
    for message in messages_of(body, default=default):
        _take(message, drafting)


def _as_said(item: Mapping[str, Any], role: Role) -> Mapping[str, Any]:
    """What a user or an agent wrote is their words, also where it reads like calls and results: text is no deed."""
    content = item.get("content")
    if not isinstance(content, str) or role is Role.TOOL:
        return item
    if all(isinstance(part, TextPart | MediaPart) for part in parts_of(content)):
        return item
    return {**item, "content": [{"type": "text", "text": content}]}


def _take(message: Message, drafting: Drafting) -> None:
    match message.role:
        case Role.SYSTEM:
            drafting.instruct(text_in(message))
        case Role.USER:
            drafting.ask(text_in(message))
        case Role.ASSISTANT | Role.TOOL:
            _take_agents(message, drafting)
    drafting.mark(message.gaps)


def _take_agents(message: Message, drafting: Drafting) -> None:
    text = text_in(message)
    if text:
        if message.role is Role.TOOL:
            drafting.give(text, name=message.name)
        else:
            drafting.say(text, agent=message.name)
    for part in message.parts:
        if isinstance(part, CompactionPart) and part.text:
            drafting.say(part.text, agent=message.name)
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if calls:
        drafting.call(ToolCallStep(p.name, p.arguments, call_id=p.call_id, agent=message.name) for p in calls)
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            drafting.give(part.result, name=part.name, call_id=part.call_id, is_error=part.is_error)


def _is_written_list(found: object) -> bool:
    """Whether JSON in a text is messages, and not what somebody answered in JSON."""
    items = found if isinstance(found, list) else [found]
    return any(
        isinstance(item, Mapping)
        and (role_of(item.get("role", item.get("_role"))) is not None or "parts" in item or item.get("type") in _ITEMS)
        for item in items
    )


def _is_message(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    return not _KEYS.isdisjoint(item) or isinstance(item.get("type"), str)


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
