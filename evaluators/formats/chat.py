"""Message lists: `{"messages": [...], "tools": [...]}`, or the bare list; the chat, response and GenAI forms.

A request and its answer may stand side by side, under the names that providers and OpenTelemetry have for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.values import decode
from collector.model import Conversation
from collector.operation import Role
from evaluators.errors import InputFormError, MissingArgumentError
from evaluators.formats.about import about_of, instruct
from evaluators.formats.building import build
from evaluators.formats.drafting import Drafting
from evaluators.formats.messages import looks_like_messages, read_list

_GIVEN = ("messages", "gen_ai.input.messages", "input_messages", "input")
_ANSWERED = ("gen_ai.output.messages", "output_messages", "output", "choices", "response", "output_text")


def fits(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(key in value for key in _GIVEN)
    return looks_like_messages(value)


def read(value: Any) -> Conversation:
    drafting = Drafting()
    if isinstance(value, list):
        read_list(value, drafting, at="messages")
        return _built(drafting, {}, at="messages")
    instruct(value, drafting)
    given = next(key for key in _GIVEN if key in value)
    if decode(value[given]) in (None, "", []):
        raise MissingArgumentError(given, f"{given} is empty: give at least one message.")
    read_list(value[given], drafting, at=given)
    answered = next((key for key in _ANSWERED if key in value and value[key] not in (None, "", [])), None)
    if answered is not None:
        read_list(_choice(value[answered]), drafting, at=answered, default=Role.ASSISTANT)
    return _built(drafting, value, at=given)


def _choice(value: object) -> object:
    """Of several choices, the first is what the user was given."""
    found = decode(value)
    if isinstance(found, list) and found and isinstance(found[0], Mapping) and "message" in found[0]:
        return [found[0]["message"]]
    return value


def _built(drafting: Drafting, beside: Mapping[str, Any], *, at: str) -> Conversation:
    if not drafting.turns:
        raise InputFormError(f"{at} holds no message of a user, an assistant or a tool.")
    return build(drafting.turns, about_of(beside), system=drafting.system)
