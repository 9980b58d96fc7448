"""What stands beside the turns or messages in every form: the id, the agent, the role, the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.definitions import definitions_of
from collector.messages.values import as_str, decode, first, plain
from collector.model import Agent, ToolDefinition
from evaluators.formats.building import About
from evaluators.formats.drafting import Drafting
from evaluators.formats.text import texts, words
from evaluators.role_adherence.role import Role

TOOL_KEYS = ("tool_definitions", "tools", "functions", "available_tools", "gen_ai.tool.definitions")
_ID_KEYS = ("conversation_id", "gen_ai.conversation.id", "session_id", "thread_id", "session_custom_id")
_SYSTEM_KEYS = ("system", "system_prompt", "system_instructions", "instructions", "gen_ai.system_instructions")
_ROLE_KEYS = ("chatbot_role", "role")
_MAX_ID_CHARS = 512


def about_of(value: Mapping[str, Any]) -> About:
    return About(
        conversation_id=_text_or_number(value, *_ID_KEYS),
        service=as_str(first(value, "service", "service_name", "service.name")),
        agent=Agent(
            name=as_str(first(value, "agent_name", "gen_ai.agent.name")),
            id=as_str(first(value, "agent_id", "gen_ai.agent.id")),
            version=as_str(first(value, "agent_version", "gen_ai.agent.version")),
        ),
        tools=tools_of(first(value, *TOOL_KEYS)),
    )


def instruct(value: Mapping[str, Any], drafting: Drafting) -> None:
    """The role and the system prompt that are given beside the messages, before any that stand in them."""
    role = Role(
        role=as_str(first(value, *_ROLE_KEYS)),
        product_description=as_str(value.get("product_description")),
        capabilities=tuple(texts(value.get("capabilities"))),
        policies=tuple(texts(value.get("policies"))),
        inabilities=tuple(texts(value.get("inabilities"))),
    )
    if role.text is not None:
        drafting.instruct(role.text)
    for key in _SYSTEM_KEYS:
        text = words(decode(value.get(key)))
        if text:
            drafting.instruct(text)


def tools_of(value: object) -> tuple[ToolDefinition, ...]:
    """Definitions as a list, one object, an object by name, JSON text of these, or words that describe the tools."""
    if value is None or value in ("", [], {}):
        return ()
    found = decode(value)
    if isinstance(found, Mapping) and _is_by_name(found):
        found = [{"name": name, **definition} for name, definition in found.items()]
    tools = definitions_of(plain(found))
    if tools:
        return tools
    return (ToolDefinition(name="tool_definitions", description=words(found)),)


def _is_by_name(value: Mapping[str, Any]) -> bool:
    known = {"name", "function", "functions", "tools", "openapi", "type", "function_declarations"}
    return bool(value) and known.isdisjoint(value) and all(isinstance(item, Mapping) for item in value.values())


def _text_or_number(value: Mapping[str, Any], *keys: str) -> str | None:
    found = first(value, *keys)
    if isinstance(found, int) and not isinstance(found, bool) and found.bit_length() < 128:
        return str(found)
    text = as_str(found)
    return text[:_MAX_ID_CHARS] if text is not None else None
