"""Pydantic AI in its earlier formats: messages as lists of event bodies, tools and agents under names of their own.

Format 1 has the messages of a call in `events`, of a run in `all_messages_events`, each the body of an event of earlier
semantic conventions; formats 1 and 2 have `agent_name`, `tool_arguments` and `tool_response`. What is current
`otel_genai` reads. Spans of tools that only carry the final answer are no tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.values import as_str, decode, first, object_or_text
from collector.model import Agent
from collector.operation import Message, Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "pydantic_ai"
MARKERS = (b"gen_ai.", b"agent_name")

_SCOPE = "pydantic-ai"
_SIGNS = ("all_messages_events", "agent_name", "tool_arguments", "tool_response", "model_request_parameters")


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    if "events" in attributes and "gen_ai.request.model" in attributes:
        return True
    return span.scope.name == _SCOPE and any(key in attributes for key in _SIGNS)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    frame = span_frame(span, dialect=NAME)
    if "tool_arguments" in attributes or "tool_response" in attributes:
        return replace(frame, kind=OperationKind.TOOL, **_tool(attributes))
    if "events" in attributes and not attributes.get("gen_ai.input.messages"):
        sent, given = _split(attributes["events"], decoder)
        return replace(frame, kind=OperationKind.MODEL_CALL, input=sent.chain, output=given.messages)
    name = as_str(attributes.get("agent_name"))
    if name is None and "all_messages_events" not in attributes:
        return frame
    sent, _ = _split(attributes.get("all_messages_events"), decoder)
    frame = replace(frame, kind=OperationKind.AGENT, agent=Agent(name=name) if name else None)
    if sent.chain is None:
        answer = as_str(attributes.get("final_result"))
        return replace(frame, output=_told(answer, decoder)) if answer else frame
    return replace(frame, **_run(sent, attributes, decoder))


def _run(sent: Decoded, attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    """The whole list of a run: what came up to the user's last words, and what the run made of it."""
    messages = sent.messages
    last = max((index for index, message in enumerate(messages) if message.role is Role.USER), default=-1)
    answer = as_str(attributes.get("final_result"))
    said = messages[last + 1 :]
    given = said or (_told(answer, decoder) if answer else ())
    return {"input": decoder.chain_of(messages[: last + 1]), "output": tuple(given)}


def _told(answer: str, decoder: MessageDecoder) -> tuple[Message, ...]:
    return decoder.read_messages([{"role": "assistant", "content": answer}])


def _split(value: object, decoder: MessageDecoder) -> tuple[Decoded, Decoded]:
    """What the call was given, and its choice."""
    found = decode(value)
    bodies = [body for body in found if isinstance(body, Mapping)] if isinstance(found, list) else []
    choices = [body for body in bodies if body.get("event.name") == "gen_ai.choice"]
    history = [body for body in bodies if body.get("event.name") != "gen_ai.choice"]
    given = [body.get("message") for body in choices[:1] if isinstance(body.get("message"), Mapping)]
    return (
        decoder.read_items([_message(body) for body in history]) if history else Decoded(),
        decoder.read_items(given, default=Role.ASSISTANT) if given else Decoded(),
    )


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    role = as_str(body.get("role")) or str(body.get("event.name")).removeprefix("gen_ai.").removesuffix(".message")
    return {**{key: value for key, value in body.items() if not key.startswith(("event.", "gen_ai."))}, "role": role}


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(first(attributes, "gen_ai.tool.name", "logfire.tool_name")),
        "call_id": as_str(attributes.get("gen_ai.tool.call.id")),
    }
    if "tool_arguments" in attributes:
        fields |= {"arguments": object_or_text(attributes["tool_arguments"]), "has_arguments": True}
    if "tool_response" in attributes:
        fields |= {"result": object_or_text(attributes["tool_response"]), "has_result": True}
    return fields
