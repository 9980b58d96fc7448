"""Logfire's spans of the OpenAI Agents SDK: each kind of span has attributes of its own, in the SDK's words.

A trace, tasks and turns around agent runs, model calls with a Responses body or with chat messages, functions, handoffs
and guardrails. `request_data` of a chat call holds the answer as well, so it is left to `input` and `output`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields
from collector.messages.values import as_str, decode
from collector.model import Agent, ToolDefinition
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "logfire_agents"
MARKERS = (b"logfire.openai_agents",)

_GROUP_RANK = 5
_KINDS = {
    "OpenAI Agents trace": OperationKind.WORKFLOW,
    "Agent run": OperationKind.AGENT,
    "Function": OperationKind.TOOL,
    "Handoff": OperationKind.HANDOFF,
    "Responses API": OperationKind.MODEL_CALL,
    "Chat completion": OperationKind.MODEL_CALL,
}
_GUARDRAIL = "Guardrail"


def sniffs_span(span: Span) -> bool:
    return span.scope.name == "logfire.openai_agents"


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    template = as_str(attributes.get("logfire.msg_template")) or span.name
    kind = next((kind for head, kind in _KINDS.items() if template.startswith(head)), OperationKind.OTHER)
    frame = span_frame(span, dialect=NAME, kind=kind)
    match kind:
        case OperationKind.WORKFLOW:
            group = as_str(decode(attributes.get("group_id")))
            known = group is not None and group != "null"
            return replace(frame, conversation_id=group, conversation_id_rank=_GROUP_RANK) if known else frame
        case OperationKind.AGENT:
            return replace(frame, agent=Agent(name=as_str(attributes.get("name"))))
        case OperationKind.TOOL:
            given, returned = attributes.get("input"), attributes.get("output")
            return replace(frame, **tool_fields(as_str(attributes.get("name")), given, returned))
        case OperationKind.HANDOFF:
            source, target = as_str(attributes.get("from_agent")), as_str(attributes.get("to_agent"))
            return replace(frame, from_agent=source, to_agent=target)
        case OperationKind.MODEL_CALL:
            fields = _call(attributes, decoder)
            return replace(frame, **{**fields, "gaps": tuple(sorted({*frame.gaps, *fields["gaps"]}))})
        case _:
            return replace(frame, is_internal=template.startswith(_GUARDRAIL))


def _call(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    response = decode(attributes.get("response"))
    if not isinstance(response, Mapping):
        return model_call_fields(attributes.get("input"), attributes.get("output"), decoder)
    # The response repeats what was asked beside the messages: instructions, tools, the response before it.
    beside = {key: response.get(key) for key in ("instructions", "tools", "previous_response_id", "model")}
    request = {**beside, "input": decode(attributes.get("raw_input"))}
    fields = model_call_fields(request, {**response, "instructions": None, "tools": None}, decoder)
    tools: tuple[ToolDefinition, ...] | None = fields["tool_definitions"] or None
    return {**fields, "tool_definitions": tools}
