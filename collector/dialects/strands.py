"""Strands Agents: what its spans say beside the semantic conventions.

Messages are span events in Bedrock's shape, which `otel_genai_events` and `otel_genai` read. On a tool's span the same
events hold what the tool was given and what it gave back. The system prompt may be an attribute, the agent's tools are
a list of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.tool_blocks import unwrap_result
from collector.messages.values import as_str, decode, first, object_or_text, text_of
from collector.model import ToolDefinition
from collector.operation import Message, Operation, OperationKind, ToolCallPart, ToolResultPart
from collector.telemetry.records import Span

NAME = "strands"
MARKERS = (b"gen_ai.",)
SCOPE = "strands."

_DETAILS = "gen_ai.client.inference.operation.details"
_SYSTEM = "strands-agents"


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    systems = [attributes.get("gen_ai.system"), attributes.get("gen_ai.provider.name")]
    return span.scope.name.startswith(SCOPE) or _SYSTEM in systems


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    operation = as_str(attributes.get("gen_ai.operation.name"))
    if span.name.startswith("memory.") or operation == "memory":
        return replace(span_frame(span, dialect=NAME), is_internal=True)
    if operation == "execute_tool":
        return replace(span_frame(span, dialect=NAME, kind=OperationKind.TOOL), **_tool(span, decoder))
    if operation in {"invoke_graph", "invoke_swarm"}:
        return span_frame(span, dialect=NAME, kind=OperationKind.WORKFLOW)
    return replace(
        span_frame(span, dialect=NAME),
        system_instructions=as_str(text_of(decode(attributes.get("system_prompt")))),
        tool_definitions=_tools(attributes) if operation == "invoke_agent" else None,
    )


def _tool(span: Span, decoder: MessageDecoder) -> dict[str, Any]:
    fields: dict[str, Any] = {"is_error": span.attributes.get("gen_ai.tool.status") == "error"}
    for event in span.events:
        said = event.attributes
        if event.name == "gen_ai.tool.message":
            fields |= {"arguments": object_or_text(said.get("content")), "has_arguments": "content" in said}
        elif event.name == "gen_ai.choice":
            fields |= {"result": unwrap_result(said.get("message")), "has_result": "message" in said}
        elif event.name == _DETAILS:
            fields |= _in_parts(said, decoder)
    if fields["is_error"]:
        fields["error"] = span_frame(span, dialect=NAME).error or "error"
    return fields


def _in_parts(said: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    sent = decoder.read(said.get("gen_ai.input.messages")).messages
    given = decoder.read_messages(said.get("gen_ai.output.messages"))
    call = next((part for part in _parts(sent) if isinstance(part, ToolCallPart)), None)
    result = next((part for part in _parts(given) if isinstance(part, ToolResultPart)), None)
    if call is not None:
        fields |= {"arguments": call.arguments, "has_arguments": True}
    if result is not None:
        fields |= {"result": result.result, "has_result": True}
    return fields


def _parts(messages: Iterable[Message]) -> Iterator[object]:
    return (part for message in messages for part in message.parts)


def _tools(attributes: Mapping[str, Any]) -> tuple[ToolDefinition, ...] | None:
    """Full definitions where they are switched on, else names only."""
    found = definitions_of(first(attributes, "gen_ai.tool.definitions"))
    names = decode(attributes.get("gen_ai.agent.tools"))
    if found is not None or not isinstance(names, list):
        return found
    return tuple(ToolDefinition(name=name) for name in names if isinstance(name, str) and name) or None
