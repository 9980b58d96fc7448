"""VoltAgent: spans with a type (agent, llm, tool, memory), messages and values under short names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.values import as_int, as_str, first
from collector.model import Agent
from collector.operation import Operation, OperationKind, Usage
from collector.telemetry.records import Span

NAME = "voltagent"
MARKERS = (b"voltagent.", b"agent.messages", b"llm.messages", b"entity.type")

_SIGNS = ("voltagent.conversation_id", "voltagent.operation_id", "agent.messages", "llm.messages")
_KINDS = {
    "agent": OperationKind.AGENT,
    "llm": OperationKind.MODEL_CALL,
    "tool": OperationKind.TOOL,
    "workflow": OperationKind.WORKFLOW,
    "retriever": OperationKind.RETRIEVAL,
}
_INTERNAL = {"memory", "guardrail", "eval"}


def sniffs_span(span: Span) -> bool:
    """Of a tool's span in later releases only what all spans have tells whose it is."""
    attributes = span.attributes
    return any(key in attributes for key in _SIGNS) or ("entity.type" in attributes and "span.type" in attributes)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    name = str(attributes.get("span.type") or attributes.get("entity.type"))
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = replace(span_frame(span, dialect=NAME, kind=kind), is_internal=name in _INTERNAL)
    returned = attributes.get("output")
    match kind:
        case OperationKind.MODEL_CALL:
            fields = model_call_fields(first(attributes, "llm.messages", "input"), returned, decoder)
            fields |= {
                "model": as_str(first(attributes, "llm.model", "ai.model.name")),
                "usage": _usage(attributes),
                "tool_definitions": fields["tool_definitions"] or definitions_of(attributes.get("llm.tools")),
            }
        case OperationKind.TOOL:
            fields = tool_fields(
                as_str(first(attributes, "tool.name", "entity.name")) or span.name,
                first(attributes, "tool.arguments", "input"),
                next((attributes[key] for key in ("tool.result", "output") if key in attributes), None),
            )
            fields["call_id"] = fields.get("call_id") or as_str(first(attributes, "tool.call.id", "tool.callId"))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            fields = wrapper_fields(first(attributes, "agent.messages", "input"), returned, decoder)
            own = as_str(attributes.get("agent.instructions"))
            fields |= {"system_instructions": fields["system_instructions"] or own, "agent": _agent(attributes)}
        case _:
            fields = {}
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    return replace(frame, **fields)


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(first(attributes, "agent.name", "entity.name"))
    return Agent(name=name, id=as_str(first(attributes, "agent.id", "entity.id"))) if name else None


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    sent = as_int(first(attributes, "usage.prompt_tokens", "llm.usage.prompt_tokens"))
    given = as_int(first(attributes, "usage.completion_tokens", "llm.usage.completion_tokens"))
    return Usage(sent, given) if sent is not None or given is not None else None
