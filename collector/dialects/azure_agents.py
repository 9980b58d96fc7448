"""Azure AI agents (threads and runs) and Azure AI projects: one span event a message, its content in one attribute.

Thread events are those of the semantic conventions up to 1.36 (`otel_genai_events` reads their `gen_ai.event.content`).
Its own are the operations of a thread's run, the thread as the conversation, messages that are shown once more whenever
a thread is listed, and events that are named after the attributes of the current conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.semconv import agent_of
from collector.messages.values import as_str, decode, first, object_or_text, text_of
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "azure_agents"
MARKERS = (b"gen_ai.",)

_SYSTEMS = {"az.ai.agents", "azure.ai.agents"}
_EVENTS = {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system.instructions"}
_ANSWERS = {"gen_ai.assistant.message", "gen_ai.choice"}
"""On the span of a run these are what the run gave; in the conventions they would be history."""
_KINDS = {
    "process_thread_run": OperationKind.AGENT,
    "start_thread_run": OperationKind.AGENT,
    "create_thread_run": OperationKind.AGENT,
}
_LISTS = {"list_messages", "list_run_steps", "list_conversation_items"}
_SET_UP = {"create_agent", "create_thread"}
_STATES = {"start_thread_run", "create_thread_run"}
"""Spans of a run that tell its state alone, unless they hold what was said in it."""


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    system = attributes.get("gen_ai.system")
    if (isinstance(system, str) and system in _SYSTEMS) or "gen_ai.thread.id" in attributes:
        return True
    return any(event.name in _EVENTS and "gen_ai.event.content" in event.attributes for event in span.events)


def _submitted(span: Span) -> dict[str, Any]:
    """One result is that tool's; of several each has its own `execute_tool` span, or is lost in a list."""
    contents = [decode(event.attributes.get("gen_ai.event.content")) for event in span.events]
    results = [content for content in contents if isinstance(content, Mapping) and "content" in content]
    if len(results) != 1:
        return {}
    result = object_or_text(results[0]["content"])
    call_id = as_str(first(results[0], "id", "tool_call_id"))
    return {"kind": OperationKind.TOOL, "call_id": call_id, "result": result, "has_result": True}


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    operation = operation if isinstance(operation, str) else ""
    frame = span_frame(span, dialect=NAME, kind=_KINDS.get(operation, OperationKind.OTHER))
    if operation in _LISTS:
        return replace(frame, is_internal=True)  # what is listed was said elsewhere
    if operation in _SET_UP:
        return replace(frame, agent=agent_of(attributes), is_internal=True)
    if operation in _STATES and not span.events:
        return replace(frame, kind=OperationKind.OTHER, agent=agent_of(attributes))
    if operation == "submit_tool_outputs":
        return replace(frame, **_submitted(span))
    said = {event.name: event.attributes.get("gen_ai.event.content") for event in span.events if event.name in _EVENTS}
    sent = decoder.read(said.get("gen_ai.input.messages"))
    given = decoder.read(said.get("gen_ai.output.messages"), default=Role.ASSISTANT)
    if frame.kind is OperationKind.AGENT and given.chain is None:
        contents = [e.attributes.get("gen_ai.event.content") for e in span.events if e.name in _ANSWERS]
        given = decoder.read_items([decode(content) for content in contents if content], default=Role.ASSISTANT)
    return replace(
        frame,
        agent=agent_of(attributes),
        input=sent.chain,
        output=given.messages,
        system_instructions=as_str(text_of(decode(said.get("gen_ai.system.instructions")))),
        tool_definitions=definitions_of(first(attributes, "gen_ai.request.tools", "gen_ai.tool.definitions")),
        gaps=tuple(sorted({*frame.gaps, *sent.gaps, *given.gaps})),
    )
