"""Conversations in OpenAI chat form (system, tools, messages) as ours, one turn a user message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.model import (
    Agent,
    Conversation,
    ConversationIdSource,
    JsonValue,
    MessageStep,
    Step,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
)


@dataclass(slots=True)
class _OpenTurn:
    user_input: str | None
    steps: list[Step] = field(default_factory=list)
    groups: int = 0
    said: str | None = None
    """The agent's latest words: the output, unless something follows."""

    def say(self, text: str | None) -> None:
        if self.said is not None:
            self.steps.append(MessageStep(text=self.said))
        self.said = text

    def call(self, calls: Sequence[Mapping[str, Any]], names: dict[str, str]) -> None:
        if not calls:
            return
        self.say(None)
        self.groups += len(calls) > 1
        for call in calls:
            function = call["function"]
            names[call["id"]] = function["name"]
            self.steps.append(
                ToolCallStep(
                    name=function["name"],
                    arguments=_arguments(function["arguments"]),
                    call_id=call["id"],
                    group=self.groups if len(calls) > 1 else None,
                )
            )


def conversation_of(case_id: str, given: Mapping[str, Any]) -> Conversation:
    """Raises `KeyError`, `TypeError` or `ValueError` for what has not this form. The id names the content too."""
    digest = hashlib.blake2b(json.dumps(given, sort_keys=True).encode(), digest_size=8).hexdigest()
    tools = tuple(_definition(tool.get("function", tool)) for tool in given.get("tools") or ())
    return Conversation(
        conversation_id=f"{case_id}/{digest}",
        conversation_id_source=ConversationIdSource.ATTRIBUTE,
        service=None,
        agent=Agent(name=None),
        system_instructions=given.get("system"),
        tool_definitions=tools,
        turns=tuple(
            Turn(
                index=index,
                trace_id=_id(case_id, digest, index, size=16),
                span_id=_id(case_id, digest, index, size=8),
                user_input=turn.user_input,
                steps=tuple(turn.steps),
                output=turn.said,
            )
            for index, turn in enumerate(_turns(given["messages"]))
        ),
    )


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[_OpenTurn]:
    turn: _OpenTurn | None = None
    names: dict[str, str] = {}
    for message in messages:
        role, content = message["role"], _text(message.get("content"))
        if role == "user" or turn is None:
            if turn is not None:
                yield turn
            turn = _OpenTurn(content if role == "user" else None)
        if role == "assistant":
            if content:
                turn.say(content)
            turn.call(message.get("tool_calls") or (), names)
        elif role == "tool":
            turn.say(None)
            call_id = message["tool_call_id"]
            turn.steps.append(ToolResultStep(result=content, name=names.get(call_id), call_id=call_id))
        elif role != "user":
            raise ValueError(f"a message has the role {role!r}")
    if turn is not None:
        yield turn


def _text(content: Any) -> str | None:
    """A string, or parts of which the text counts."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("the content of a message is no text")
    return content


def _arguments(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _definition(tool: Mapping[str, Any]) -> ToolDefinition:
    return ToolDefinition(name=tool["name"], description=tool.get("description"), parameters=tool.get("parameters"))


def _id(*parts: object, size: int) -> str:
    return hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=size).hexdigest()
