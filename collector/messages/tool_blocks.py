"""Calls of tools and their results in any shape: semantic conventions, OpenAI, Anthropic, Bedrock, Gemini, LangChain,
Vercel, Azure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.block_kinds import APPROVAL_CALL, APPROVAL_RESULT
from collector.messages.values import as_bool, as_str, first, object_or_text, plain
from collector.model import JsonValue
from collector.operation import ToolCallPart, ToolResultPart

_RESULT_MEMBERS = (
    "response", "result", "output", "content", "value", "text", "tool_result", "function_call_output",
    "openapi_call_output",
)  # fmt: skip


def tool_call(block: Mapping[str, Any]) -> ToolCallPart:
    """A call in any shape: semantic conventions, OpenAI, Anthropic, Bedrock, Gemini, LangChain, Vercel."""
    if block.get("type") == APPROVAL_CALL:
        return _approval_call(block)
    inner = first(block, "function", "server_tool_call", "tool_call", "toolInvocation", "function_call", "openapi_call")
    detail = inner if isinstance(inner, Mapping) else block
    if isinstance(detail.get("function"), Mapping):
        block, detail = detail, detail["function"]  # Azure: a call within a block that says it is one
    name = first(detail, "name", "tool_name", "toolName") or first(block, "name", "tool_name", "toolName") or inner
    arguments = _first_present(detail, block, keys=("arguments", "args", "input", "parameters"))
    call_id = first(block, "call_id", "id", "toolUseId", "tool_call_id", "toolCallId", "tool_use_id", "tool_id", "ref")
    return ToolCallPart(
        name=name if isinstance(name, str) else "",
        arguments=object_or_text(arguments) if arguments != "" else {},
        call_id=as_str(call_id) or as_str(first(detail, "id", "call_id", "toolCallId")),
    )


def tool_result(block: Mapping[str, Any]) -> ToolResultPart:
    """A result in any shape; Vercel's `{type, value}` output and blocks of text are undone to what they hold."""
    if block.get("type") == APPROVAL_RESULT:
        return _approval_result(block)
    inner = first(block, "server_tool_call_response", "function_response")
    detail = inner if isinstance(inner, Mapping) else block
    result = _first_present(detail, block, keys=_RESULT_MEMBERS)
    call_id = first(
        block, "call_id", "tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "id", "ref"
    )  # fmt: skip
    origin = block.get("origin")
    if call_id is None and isinstance(origin, Mapping):
        call_id = origin.get("id")
    name = first(block, "name", "tool_name", "toolName")
    if name is None and isinstance(origin, Mapping):
        name = first(origin, "tool_name", "name")
    error = as_bool(first(block, "is_error", "isError", "error"))
    return ToolResultPart(
        result=unwrap_result(result),
        call_id=as_str(call_id),
        name=as_str(name),
        is_error=bool(error)
        or block.get("status") == "error"
        or block.get("outcome") == "failed"
        or _error_kind(block),
    )


def _approval_call(block: Mapping[str, Any]) -> ToolCallPart:
    """The question whether a tool may be called: an act of its own, and not yet the call of that tool."""
    inner = block.get(APPROVAL_CALL)
    detail = inner if isinstance(inner, Mapping) else block
    asked = {key: plain(detail[key]) for key in ("name", "arguments", "server_label") if detail.get(key) is not None}
    if isinstance(asked.get("arguments"), str):
        asked["arguments"] = object_or_text(asked["arguments"])
    call_id = first(block, "tool_call_id", "approval_request_id", "id") or first(detail, "tool_call_id", "id")
    return ToolCallPart(name=APPROVAL_CALL, arguments=asked, call_id=as_str(call_id))


def _approval_result(block: Mapping[str, Any]) -> ToolResultPart:
    inner = block.get(APPROVAL_RESULT)
    detail = inner if isinstance(inner, Mapping) else block
    said = {key: plain(detail[key]) for key in ("approve", "reason") if detail.get(key) is not None}
    call_id = first(detail, "approval_request_id", "tool_call_id") or first(
        block, "approval_request_id", "tool_call_id"
    )
    result = said or (object_or_text(inner) if inner is not None else None)
    return ToolResultPart(result=result, call_id=as_str(call_id), name=APPROVAL_CALL)


def unwrap_result(value: object, *, depth: int = 4) -> JsonValue:
    """What the tool returned, out of content blocks, MCP results and typed outputs."""
    found = object_or_text(value)
    if depth <= 0:
        return found
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], Mapping) and set(found[0]) == {"json"}:
        return unwrap_result(found[0]["json"], depth=depth - 1)  # Bedrock
    if isinstance(found, list) and found:
        texts = [_only_text(block) for block in found]
        if all(text is not None for text in texts):
            joined = "\n".join(text for text in texts if text is not None)
            return unwrap_result(joined, depth=depth - 1)
    if isinstance(found, Mapping):
        if set(found) <= {"type", "value", "providerOptions", "provider_options"} and {"type", "value"} <= set(found):
            return unwrap_result(found["value"], depth=depth - 1)
        content = found.get("content")
        if isinstance(content, list) and (
            "isError" in found or "structuredContent" in found or set(found) == {"content"}
        ):
            return unwrap_result(content, depth=depth - 1)
    return found


def _only_text(block: object) -> str | None:
    """The text of a block that is nothing but text."""
    if not isinstance(block, Mapping):
        return None
    text = block.get("text", block.get("content"))
    kind = block.get("type") or block.get("block_type")
    is_text = kind in {"text", "output_text", "input_text"} or set(block) == {"text"}
    return text if is_text and isinstance(text, str) else None


def _error_kind(block: Mapping[str, Any]) -> bool:
    if block.get("type") in {"tool-error", "retry-prompt"}:
        return True
    output = block.get("output")
    return isinstance(output, Mapping) and str(output.get("type", "")).startswith("error")


def _first_present(*sources: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The first value that is there at all; an empty text or an explicit null is only taken if nothing else is."""
    fallback: Any = None
    for source in sources:
        for key in keys:
            if key in source:
                if source[key] not in (None, ""):
                    return source[key]
                fallback = source[key] if fallback is None else fallback
    return fallback
