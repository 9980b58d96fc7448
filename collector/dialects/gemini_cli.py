"""Gemini CLI: log events, and spans whose operations and tool-call ids go by names of their own.

`session.id` is the conversation, `prompt_id` the turn. Its events `gen_ai.client.inference.operation.details` are those
of the semantic conventions and are read as such, under the turn. Tool events hold arguments and no result; the result
is in the next request. Spans hold Gemini's own contents, cut at a length. `logPrompts: false` leaves content out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.parts import parts_of
from collector.messages.semconv import semconv_fields
from collector.messages.turn_records import (
    asked,
    is_false,
    mark_of,
    named,
    plain_usage,
    recorded_value,
    step_frame,
    turn_frame,
)
from collector.messages.values import as_str
from collector.model import Agent, GapKind, JsonValue
from collector.operation import Operation, OperationKind, ToolResultPart
from collector.telemetry.records import LogRecord, Span

NAME = "gemini_cli"
MARKERS = (b"gemini_cli", b"gemini-cli", b"gen_ai.")

_PREFIX = "gemini_cli."
_DETAILS = "gen_ai.client.inference.operation.details"
_PROGRAM = "gemini-cli"
_KINDS = {
    "llm_call": OperationKind.MODEL_CALL,
    "agent_call": OperationKind.AGENT,
    "user_prompt": OperationKind.AGENT,
    "tool_call": OperationKind.TOOL,
}


def sniffs_span(span: Span) -> bool:
    return span.scope.name == _PROGRAM or span.attributes.get("gen_ai.agent.name") == _PROGRAM


def read_span(span: Span, decoder: MessageDecoder) -> Operation:  # noqa: ARG001  # every dialect's signature
    """`otel_genai` reads what has its usual name; `tool_call` spans have arguments and results as messages."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    kind = _KINDS.get(operation, OperationKind.OTHER) if isinstance(operation, str) else OperationKind.OTHER
    frame = span_frame(span, dialect=NAME, kind=kind)
    if kind is not OperationKind.TOOL:
        return replace(frame, is_internal=operation == "system_prompt")
    fields: dict[str, Any] = {"call_id": as_str(attributes.get("gen_ai.tool.call_id"))}
    gaps = {*frame.gaps}
    for key, field in (("gen_ai.input.messages", "arguments"), ("gen_ai.output.messages", "result")):
        value, missing = recorded_value(attributes.get(key))
        gaps.update(missing)
        value = _within(value, field)
        if value is not None:
            fields |= {field: value, f"has_{field}": True}
    return replace(frame, **fields, gaps=tuple(sorted(gaps)))


def sniffs_log(record: LogRecord) -> bool:
    if record.event_name.startswith(_PREFIX):
        return True
    is_own = _PROGRAM in {record.scope.name, record.resource.service_name}
    return record.event_name == _DETAILS and (is_own or "prompt_id" in record.attributes)


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    attributes = record.attributes
    name = record.event_name.removeprefix(_PREFIX)
    session, turn = named(attributes, "session.id") or "", named(attributes, "prompt_id", "gen_ai.prompt.name")
    mark = mark_of(record)
    if name in {"user_prompt", "chat_compression"}:
        frame = turn_frame(record, dialect=NAME, conversation=session, turn=turn)
        if name == "chat_compression":
            return replace(frame, gaps=(*frame.gaps, GapKind.HISTORY_COMPACTED)) if turn else None
        return replace(frame, input=asked(attributes.get("prompt"), decoder), agent=_agent(attributes))
    if name == "tool_call":
        kind, own = OperationKind.TOOL, f"tool {named(attributes, 'call_id', 'tool_call_id') or mark}"
    elif name in {"api_response", "api_error", _DETAILS}:
        # One call's two records have one time stamp.
        kind, own = OperationKind.MODEL_CALL, f"call {named(attributes, 'event.timestamp') or mark}"
    else:
        return None
    frame = step_frame(record, dialect=NAME, kind=kind, conversation=session, turn=turn, own=own)
    if name == "tool_call":
        return replace(frame, **_tool(attributes), agent=_agent(attributes))
    if name == _DETAILS:
        return replace(frame, **{**semconv_fields(attributes, decoder), "kind": kind, "agent": _agent(attributes)})
    return replace(
        frame,
        model=as_str(attributes.get("model")),
        provider="gcp.gemini",
        usage=plain_usage(attributes, "input_token_count", "output_token_count"),
        is_error=name == "api_error",
        error=named(attributes, "error", "error.message", "error_type") if name == "api_error" else None,
        agent=_agent(attributes),
    )


def _within(value: JsonValue, field: str) -> JsonValue:
    """The arguments out of the request of a call, the result out of Gemini's response parts."""
    if isinstance(value, Mapping) and field == "arguments":
        inner = value.get("args")
        return inner if isinstance(inner, Mapping) else value
    if field == "result":
        results = [part for part in parts_of(value) if isinstance(part, ToolResultPart)]
        return results[0].result if len(results) == 1 else value
    return value


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    arguments, gaps = recorded_value(attributes.get("function_args"))
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("function_name")),
        "call_id": named(attributes, "call_id", "tool_call_id"),
        "gaps": gaps,
    }
    if arguments is not None:
        fields |= {"arguments": arguments, "has_arguments": True}
    if is_false(attributes.get("success")):
        fields |= {"is_error": True, "error": named(attributes, "error", "error_type") or "error"}
    return fields


def _agent(attributes: Mapping[str, Any]) -> Agent:
    return Agent(name=as_str(attributes.get("agent_name")) or _PROGRAM)
