"""Claude Code (and the Agent SDK, which runs it): log events, one for each prompt, API call, tool decision and tool.

`session.id` is the conversation, `prompt.id` the turn. What was said is there only as far as it was switched on:
prompts (OTEL_LOG_USER_PROMPTS), answers (OTEL_LOG_ASSISTANT_RESPONSES), tool inputs (OTEL_LOG_TOOL_DETAILS, long
values cut at 512 characters), whole requests and responses (OTEL_LOG_RAW_API_BODIES, cut at 60 KB), the only ones with
tool results. Calls for titles, summaries and the like, and the words of sub-agents, are no part of what the user sees.
The spans of the same program are `claude_code_spans`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.bodies import read_request, read_response
from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.turn_records import (
    answered,
    asked,
    is_false,
    mark_of,
    named,
    plain_usage,
    recorded_value,
    step_frame,
    turn_frame,
)
from collector.messages.values import as_str, first
from collector.model import Agent, GapKind, JsonValue
from collector.operation import Operation, OperationKind
from collector.telemetry.records import LogRecord

NAME = "claude_code"
MARKERS = (b"claude_code", b"prompt.id")

_PREFIX = "claude_code."
_CALLS = {"api_request", "api_error", "api_refusal", "api_response_body", "assistant_response"}
_CUT_AT = 512
_MAX_DEPTH = 6


def sniffs_log(record: LogRecord) -> bool:
    if record.event_name.startswith(_PREFIX) or record.scope.name.startswith("com.anthropic.claude_code"):
        return True
    return isinstance(record.body, str) and record.body.startswith(_PREFIX)


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    attributes = record.attributes
    name = (record.event_name or str(record.body)).removeprefix(_PREFIX)
    session, turn = named(attributes, "session.id") or "", named(attributes, "prompt.id", "prompt_id")
    if name in {"user_prompt", "compaction"}:
        frame = replace(turn_frame(record, dialect=NAME, conversation=session, turn=turn), agent=_agent(attributes))
        if name == "compaction":
            return replace(frame, gaps=(*frame.gaps, GapKind.HISTORY_COMPACTED)) if turn else None
        return replace(frame, input=asked(attributes.get("prompt"), decoder))
    if name in {"tool_result", "tool_decision"}:
        kind, own = OperationKind.TOOL, f"tool {_identity(record, 'tool_use_id')}"
    elif name in _CALLS:
        kind, own = OperationKind.MODEL_CALL, f"call {_identity(record, 'request_id')}"
    elif name == "api_request_body":
        kind, own = OperationKind.MODEL_CALL, f"request {_identity(record, 'client_request_id')}"
    else:
        return None
    frame = step_frame(record, dialect=NAME, kind=kind, conversation=session, turn=turn, own=own)
    frame = replace(frame, agent=_agent(attributes))
    if kind is OperationKind.TOOL:
        return replace(frame, **_tool(name, attributes))
    return _call(name, frame, attributes, decoder)


def _call(name: str, frame: Operation, attributes: Mapping[str, Any], decoder: MessageDecoder) -> Operation:
    gaps = {*frame.gaps}
    if attributes.get("body_ref"):
        gaps.add(GapKind.CONTENT_ELSEWHERE)
    frame = replace(
        frame,
        model=as_str(attributes.get("model")),
        provider="anthropic",
        response_id=as_str(attributes.get("request_id")),
        usage=plain_usage(attributes, "input_tokens", "output_tokens"),
        is_internal=_is_background(attributes),
        is_error=name == "api_error",
        error=as_str(attributes.get("error")) if name == "api_error" else None,
    )
    if name == "api_request_body":
        request = read_request(attributes.get("body"), decoder)
        return replace(
            frame,
            input=request.decoded.chain,
            system_instructions=request.system,
            tool_definitions=definitions_of(request.rest.get("tools")),
            gaps=tuple(sorted({*gaps, *request.decoded.gaps})),
        )
    if name == "api_response_body":
        response = read_response(attributes.get("body"), decoder)
        gaps.update(response.decoded.gaps)
        return replace(frame, output=response.messages, gaps=tuple(sorted(gaps)))
    if name == "assistant_response":
        return replace(frame, output=answered(attributes.get("response")), gaps=tuple(sorted(gaps)))
    return replace(frame, gaps=tuple(sorted(gaps)))


def _tool(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("tool_name")),
        "call_id": as_str(attributes.get("tool_use_id")),
    }
    if name == "tool_decision":
        if attributes.get("decision") == "reject":
            fields |= {"is_error": True, "error": f"Rejected ({attributes.get('source') or 'unknown'})."}
        return fields
    given = first(attributes, "tool_input", "tool_parameters")
    if given is not None:
        arguments, gaps = recorded_value(given)
        if _has_cut_value(arguments, _MAX_DEPTH):
            gaps = (*gaps, GapKind.TRUNCATED)
        fields |= {"arguments": arguments, "has_arguments": arguments is not None, "gaps": tuple(sorted({*gaps}))}
    if is_false(attributes.get("success")):
        fields |= {"is_error": True, "error": named(attributes, "error", "error_type") or "error"}
    return fields


def _agent(attributes: Mapping[str, Any]) -> Agent:
    """A sub-agent by its name; else the program itself."""
    return Agent(
        name=as_str(attributes.get("agent.name")) or "claude-code", version=as_str(attributes.get("app.version"))
    )


def _is_background(attributes: Mapping[str, Any]) -> bool:
    """Not the main loop: a sub-agent, or a call that the program makes for itself (a title, a summary, a hook)."""
    source = attributes.get("query_source")
    if not isinstance(source, str) or not source:
        return bool(attributes.get("parent_agent_id"))
    return not source.startswith(("repl", "sdk", "main", "headless", "cli"))


def _identity(record: LogRecord, key: str) -> str:
    """The id under the key; without one, what tells this record from all others of the session."""
    return named(record.attributes, key) or mark_of(record)


def _has_cut_value(value: JsonValue, depth: int) -> bool:
    """Claude Code cuts long values without a mark: all that shows is their length."""
    if isinstance(value, str):
        return _CUT_AT <= len(value) <= _CUT_AT + 32
    if depth <= 0:
        return False
    if isinstance(value, Mapping):
        return any(_has_cut_value(item, depth - 1) for item in value.values())
    return isinstance(value, list) and any(_has_cut_value(item, depth - 1) for item in value)
