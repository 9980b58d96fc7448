"""Mastra: every span has a type, and its input and output under names made of that type, or under plain ones.

A generation holds the steps of a model's loop, each a model call. What follows the semantic conventions as well
(`gen_ai.input.messages` of later exporters) `otel_genai` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.semconv import agent_of
from collector.messages.values import as_str, decode, dump, first
from collector.model import Agent
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "mastra"
MARKERS = (b"mastra.",)

_KINDS = {
    "agent_run": OperationKind.AGENT,
    "workflow_run": OperationKind.WORKFLOW,
    "model_generation": OperationKind.MODEL_CALL,
    "model_step": OperationKind.MODEL_CALL,
    "llm_generation": OperationKind.MODEL_CALL,
    "tool_call": OperationKind.TOOL,
    "mcp_tool_call": OperationKind.TOOL,
}
_INTERNAL = {"scorer_run", "scorer_step", "processor_run", "rag_embedding"}


def sniffs_span(span: Span) -> bool:
    return "mastra.span.type" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = str(attributes.get("mastra.span.type"))
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = replace(span_frame(span, dialect=NAME, kind=kind), is_internal=name in _INTERNAL)
    given = first(attributes, f"mastra.{name}.input", "input")
    returned = first(attributes, f"mastra.{name}.output", "output")
    match kind:
        case OperationKind.MODEL_CALL:
            fields = model_call_fields(given, _answer(returned), decoder)
        case OperationKind.TOOL:
            tool = as_str(first(attributes, "gen_ai.tool.name", "mastra.tool_id", "mastra.toolId"))
            fields = tool_fields(tool or span.name.rpartition(" ")[2].strip("'"), given, returned)
            fields["call_id"] = fields.get("call_id") or as_str(attributes.get("gen_ai.tool.call.id"))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            fields = wrapper_fields(given, _answer(returned), decoder)
            fields["agent"] = agent_of(attributes) or _agent(attributes)
        case _:
            fields = {}
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    return replace(frame, **fields)


def _answer(returned: object) -> object:
    """A step's output as a message: its text, and the calls that may be wrapped once more."""
    found = decode(returned)
    if not isinstance(found, Mapping) or "role" in found or not ("text" in found or "toolCalls" in found):
        return returned
    listed = decode(found.get("toolCalls"))
    calls = [_call(call) for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    message: dict[str, Any] = {"role": "assistant", "content": found.get("text") or ""}
    return dump([message | ({"tool_calls": calls} if calls else {})])


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = call.get("payload")
    return inner if isinstance(inner, Mapping) else call


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(
        first(attributes, "mastra.agent.name", "mastra.agentName", "mastra.agent_id", "mastra.agentId", "agent.id")
    )
    return Agent(name=name) if name else None
