"""Codex CLI: log events only. `conversation.id` is the conversation, `turn.id` the turn where a release has one.

The final answer comes in `codex.agent_response`, which is opt-in and of late releases; tool results are previews;
system prompt and tool definitions are not sent. Token counts come with the end of each streamed response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
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
from collector.messages.values import as_str
from collector.model import Agent, GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import LogRecord

NAME = "codex"
MARKERS = (b"codex.",)

_PREFIX = "codex."
_STREAM_EVENTS = {"sse_event", "websocket_event"}


def sniffs_log(record: LogRecord) -> bool:
    return record.event_name.startswith(_PREFIX)


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    attributes = record.attributes
    name = record.event_name.removeprefix(_PREFIX)
    conversation, turn = named(attributes, "conversation.id") or "", named(attributes, "turn.id")
    is_sub_agent = attributes.get("agent.type") == "subagent"
    if is_sub_agent:  # its words belong to the turn that started it
        conversation = named(attributes, "parent.conversation.id") or conversation
        turn = named(attributes, "root.turn.id", "parent.turn.id") or turn
    mark = mark_of(record)
    if name == "user_prompt":
        frame = turn_frame(record, dialect=NAME, conversation=conversation, turn=turn)
        return replace(frame, input=asked(attributes.get("prompt"), decoder), agent=_agent(attributes))
    if name in {"tool_result", "tool_decision"}:
        own = f"tool {named(attributes, 'call_id') or mark}"
        frame = step_frame(record, dialect=NAME, kind=OperationKind.TOOL, conversation=conversation, turn=turn, own=own)
        return replace(frame, **_tool(name, attributes), agent=_agent(attributes))
    is_end = name in _STREAM_EVENTS and attributes.get("event.kind") == "response.completed"
    if not is_end and name != "agent_response":
        return None
    frame = step_frame(
        record, dialect=NAME, kind=OperationKind.MODEL_CALL, conversation=conversation, turn=turn, own=f"call {mark}"
    )
    return replace(frame, **_call(name, attributes), agent=_agent(attributes), is_internal=is_sub_agent)


def _call(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"model": named(attributes, "model", "slug"), "provider": "openai"}
    if name != "agent_response":
        return fields | {"usage": plain_usage(attributes, "input_token_count", "output_token_count")}
    output = answered(attributes.get("response"))
    if output and attributes.get("response_truncated") in (True, "true"):
        output = (replace(output[0], gaps=tuple(sorted({*output[0].gaps, GapKind.TRUNCATED}))),)
    return fields | {"output": output}


def _tool(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("tool_name")),
        "call_id": as_str(attributes.get("call_id")),
    }
    if name == "tool_decision":
        if str(attributes.get("decision")).lower() in {"denied", "abort", "reject"}:
            fields |= {"is_error": True, "error": f"Rejected ({attributes.get('source') or 'unknown'})."}
        return fields
    gaps: set[GapKind] = set()
    for key, field in (("arguments", "arguments"), ("output", "result")):
        value, missing = recorded_value(attributes.get(key))
        gaps.update(missing)
        if value is not None:
            fields |= {field: value, f"has_{field}": True}
    return fields | {"is_error": is_false(attributes.get("success")), "gaps": tuple(sorted(gaps))}


def _agent(attributes: Mapping[str, Any]) -> Agent:
    return Agent(
        name=as_str(attributes.get("initiating.agent.path")) or "codex", version=as_str(attributes.get("app.version"))
    )
