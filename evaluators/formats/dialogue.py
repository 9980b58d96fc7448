"""Turns as single utterances: `{"turns": [{"role": "user", "content": "..."}, {"role": "assistant", ...}]}`.

An assistant's turn may hold `tools_called` and `retrieval_context`; both came before the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.roles import role_of
from collector.model import Conversation
from collector.operation import Role
from evaluators.errors import InputFormError, MissingArgumentError
from evaluators.formats.about import about_of, instruct
from evaluators.formats.building import build
from evaluators.formats.drafting import Drafting
from evaluators.formats.messages import read_message
from evaluators.formats.pairs import listed, retrieved, tools_called


def fits(value: object) -> bool:
    if not isinstance(value, Mapping) or "turns" not in value:
        return False
    turns = value["turns"]
    return not isinstance(turns, list) or all(isinstance(item, Mapping) for item in turns)


def read(value: Mapping[str, Any]) -> Conversation:
    drafting = Drafting()
    instruct(value, drafting)
    for number, item in enumerate(listed(value.get("turns"), at="turns")):
        at = f"turns[{number}]"
        if not isinstance(item, Mapping):
            raise InputFormError(f"{at} must be an object with role and content, or with input and actual_output.")
        for name in ("role", "content"):
            if name not in item and "parts" not in item and "tool_calls" not in item:
                other = "actual_output" if "input" in item else f"{name}"
                raise MissingArgumentError(f"{at}.{other}", f"The argument {at}.{other} is missing.")
        if role_of(item.get("role")) is Role.ASSISTANT:
            retrieved(item.get("retrieval_context"), drafting)
            tools_called(item.get("tools_called"), drafting)
        read_message(item, drafting, at=at)
    return build(drafting.turns, about_of(value), system=drafting.system)
