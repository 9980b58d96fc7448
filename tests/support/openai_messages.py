"""Labelled conversations in OpenAI chat form as conversations of our model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.model import Conversation, JsonValue, ToolDefinition
from tests.support.conversations import ConversationBuilder


def conversation_of(case_id: str, given: Mapping[str, Any]) -> Conversation:
    """`given` holds `system`, `tools` and `messages`; each user message opens a turn."""
    builder = ConversationBuilder(case_id, system=given.get("system"))
    names: dict[str, str] = {}
    said: str | None = None
    opened = False
    for message in given["messages"]:
        role, content = message["role"], message.get("content")
        if role == "user" or not opened:
            _close(builder, said)
            said, opened = None, True
            builder.turn(content if role == "user" else None)
        if role == "assistant":
            if content:
                if said is not None:
                    builder.say(said)
                said = content
            for call in message.get("tool_calls") or ():
                if said is not None:
                    builder.say(said)
                    said = None
                names[call["id"]] = call["function"]["name"]
                builder.call(call["function"]["name"], _arguments(call["function"]["arguments"]), call_id=call["id"])
        if role == "tool":
            call_id = message["tool_call_id"]
            builder.result(names.get(call_id, "unknown"), content, call_id=call_id)
    _close(builder, said)
    tools = tuple(_definition(tool.get("function", tool)) for tool in given.get("tools") or ())
    return replace(builder.build(), tool_definitions=tools)


def _close(builder: ConversationBuilder, said: str | None) -> None:
    if said is not None:
        builder.answer(said)


def _arguments(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _definition(tool: Mapping[str, Any]) -> ToolDefinition:
    return ToolDefinition(name=tool["name"], description=tool.get("description"), parameters=tool.get("parameters"))
