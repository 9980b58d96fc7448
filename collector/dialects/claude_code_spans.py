"""Claude Code's spans (beta): an interaction a turn, model requests and tools under it.

Prompts and tool contents are there as far as they were switched on; what a tool was given and gave back is an event
`tool.output` of its span. Detailed tracing adds the model's words and the context that is new to a request. The log
events of the same program are `claude_code`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.turn_records import (
    answered,
    asked,
    is_false,
    named,
    plain_usage,
    recorded_value,
)
from collector.messages.values import as_str, first
from collector.model import Agent, GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "claude_code_spans"
MARKERS = (b"claude_code.",)

_PREFIX = "claude_code."
_KINDS = {
    "interaction": OperationKind.AGENT,
    "llm_request": OperationKind.MODEL_CALL,
    "tool": OperationKind.TOOL,
}
_NAMED_ARGUMENTS = {
    "full_command": "command",
    "file_path": "file_path",
    "skill_name": "skill",
    "subagent_type": "subagent_type",
}
_OUTPUT_KEYS = ("output", "content", "result", "tool_output", "diff")


def sniffs_span(span: Span) -> bool:
    kind = span.attributes.get("span.type")
    is_own = (isinstance(kind, str) or span.scope.name.startswith("com.anthropic.")) and span.name.startswith(_PREFIX)
    return is_own or span.scope.name.startswith("com.anthropic.claude_code")


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = (as_str(attributes.get("span.type")) or span.name).removeprefix(_PREFIX)
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = span_frame(span, dialect=NAME, kind=kind)
    version = as_str(attributes.get("app.version"))
    match kind:
        case OperationKind.AGENT:
            agent = Agent(name="claude-code", version=version)
            return replace(frame, input=asked(attributes.get("user_prompt"), decoder), agent=agent)
        case OperationKind.MODEL_CALL:
            return replace(frame, **_call(attributes))
        case OperationKind.TOOL:
            return replace(frame, **_tool(span, frame))
        case _:
            return frame


def _call(attributes: Mapping[str, Any]) -> dict[str, Any]:
    agent = as_str(attributes.get("agent.name"))
    failed = is_false(attributes.get("success"))
    return {
        "output": answered(attributes.get("response.model_output")),
        "model": named(attributes, "gen_ai.request.model", "model"),
        "provider": as_str(attributes.get("gen_ai.system")),
        "response_id": named(attributes, "gen_ai.response.id", "request_id"),
        "usage": plain_usage(attributes, "input_tokens", "output_tokens"),
        "is_internal": bool(attributes.get("parent_agent_id")) or attributes.get("query_source") == "compact",
        "is_error": failed,
        "error": named(attributes, "error") if failed else None,
        "agent": Agent(name=agent) if agent else None,
    }


def _tool(span: Span, frame: Operation) -> dict[str, Any]:
    attributes = span.attributes
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("tool_name")),
        "call_id": named(attributes, "tool_use_id", "gen_ai.tool.call.id"),
    }
    gaps = {*frame.gaps}
    event = next((event for event in span.events if event.name == "tool.output"), None)
    shown = event.attributes if event is not None else {}
    given, missing = recorded_value(first({**attributes, **shown}, "tool_input", "input"))
    gaps.update(missing)
    if given is None:
        given = {name: attributes[key] for key, name in _NAMED_ARGUMENTS.items() if as_str(attributes.get(key))} or None
    if given is not None:
        fields |= {"arguments": given, "has_arguments": True}
    result, missing = recorded_value(first(shown, *_OUTPUT_KEYS))
    gaps.update(missing)
    if result is not None:
        fields |= {"result": result, "has_result": True}
    if shown.get("truncated") in (True, "true") or shown.get("content_truncated") in (True, "true"):
        gaps.add(GapKind.TRUNCATED)
    if is_false(attributes.get("success")):
        fields |= {"is_error": True, "error": frame.error or named(attributes, "error") or "error"}
    return fields | {"gaps": tuple(sorted(gaps))}
