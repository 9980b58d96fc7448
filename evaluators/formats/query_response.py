"""A query and the response to it, each a text or a message list: `{"query": ..., "response": ...}`.

The query holds the conversation up to the turn that is judged, the response everything that the agent did in it.
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
from evaluators.formats.messages import read_list


def fits(value: object) -> bool:
    return isinstance(value, Mapping) and ("query" in value or "response" in value) and "messages" not in value


def read(value: Mapping[str, Any]) -> Conversation:
    for name in ("query", "response"):
        if decode(value.get(name)) in (None, []):
            raise MissingArgumentError(name, f"The argument {name} is missing: give a text or a list of messages.")
    drafting = Drafting()
    instruct(value, drafting)
    read_list(value["query"], drafting, at="query")
    read_list(value["response"], drafting, at="response", default=Role.ASSISTANT)
    if not drafting.turns:
        raise InputFormError("query and response hold no message of a user, an assistant or a tool.")
    return build(drafting.turns, about_of(value), system=drafting.system)
