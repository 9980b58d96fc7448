"""One message as some SDK wrote it, to messages in our form.

Read by what is there: semantic-convention parts, OpenAI chat messages and Responses items, Anthropic and Bedrock
blocks, Gemini contents, LangChain (serialised, dumped or as a dict), Vercel, Haystack. Tool results inside a user
message are tool results and no user input, so such a message is read as two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from collector.messages.block_kinds import APPROVAL_CALL, APPROVAL_RESULT
from collector.messages.digests import with_digest
from collector.messages.markers import gaps_in
from collector.messages.parts import parts_of
from collector.messages.reprs import decode_repr, is_printed_object
from collector.messages.roles import is_pair, role_of
from collector.messages.tool_blocks import tool_call, tool_result, unwrap_result
from collector.messages.values import as_bool, as_str, decode, first
from collector.messages.written import with_written_calls, without_spelt_calls, written_calls, written_result
from collector.model import GapKind
from collector.operation import Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart

_CALL_ITEMS = {"function_call", "custom_tool_call", "mcp_call", "tool_call", "openapi_call", APPROVAL_CALL}
_RESULT_ITEMS = {
    "function_call_output", "custom_tool_call_output", "tool_call_response", "openapi_call_output", APPROVAL_RESULT,
}  # fmt: skip
_IGNORED_ITEMS = {"item_reference", "mcp_list_tools"}


_MAX_DEPTH = 8


def messages_of(value: object, *, default: Role = Role.USER, depth: int = _MAX_DEPTH) -> tuple[Message, ...]:
    """The messages of one item of a message list; a bare text is one message of the default role."""
    if depth <= 0:
        return ()
    if isinstance(value, str):
        found = decode_repr(value) if is_printed_object(value) else decode(value)
        if not isinstance(found, Mapping) or not _looks_like_message(found):
            return _built(default, parts_of(value), None)
        value = found
    if isinstance(value, list) and is_pair(value):
        return _built(role_of(value[0]) or default, parts_of(value[1]), None)
    if isinstance(value, list):
        return tuple(message for item in value for message in messages_of(item, default=default, depth=depth - 1))
    if not isinstance(value, Mapping):
        return ()
    body, role = body_of(value, depth)
    return _read(body, role, default)


def _looks_like_message(found: Mapping[str, Any]) -> bool:
    return "role" in found or "parts" in found or found.get("lc") == 1 or found.get("type") in _CALL_ITEMS


def body_of(value: Mapping[str, Any], depth: int = _MAX_DEPTH) -> tuple[Mapping[str, Any], Role | None]:
    """The part of the object that holds the message, and the role if its class says it (LangChain)."""
    kwargs = value.get("kwargs")
    if kwargs is not None and isinstance(kwargs, Mapping) and isinstance(value.get("id"), list) and value["id"]:
        return kwargs, role_of(value["id"][-1]) or role_of(kwargs.get("type"))
    data = value.get("data")
    if data is not None and isinstance(data, Mapping) and role_of(value.get("type")):
        return data, role_of(value.get("type"))
    if "_role" in value and "role" not in value:
        return {key.lstrip("_"): member for key, member in value.items()}, None  # Haystack before 2.12
    inner = value.get("message")
    if (
        inner is not None
        and depth > 0
        and isinstance(inner, Mapping)
        and "content" not in value
        and "parts" not in value
    ):
        body, role = body_of(inner, depth - 1)
        extra = value.get("tool_calls")
        return ({**body, "tool_calls": extra} if extra and not body.get("tool_calls") else body), role
    return value, None


def _read(body: Mapping[str, Any], role: Role | None, default: Role) -> tuple[Message, ...]:
    kind = body.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind in _IGNORED_ITEMS:
        return ()
    if kind in _CALL_ITEMS and "parts" not in body and "role" not in body:
        return _built(Role.ASSISTANT, (tool_call(body),), None)
    if kind in _RESULT_ITEMS and "parts" not in body and "role" not in body:
        return _built(Role.TOOL, (tool_result(body),), None)
    if kind in {"reasoning", "thinking"} and "role" not in body:
        return _built(Role.ASSISTANT, parts_of(body), None)
    content = body.get("parts") if body.get("parts") is not None else content_of(body)
    role = role or role_of(body.get("role")) or role_of(kind) or author_of(body)
    if role is None:
        written = _written(body.get("role"), content)
        if written is not None:
            return written
    role = role or (Role.ASSISTANT if body.get("tool_calls") else default)
    if role is Role.TOOL and not _has_result_blocks(content):
        return _built(Role.TOOL, (_result_message(body, content),), as_str(body.get("name")))
    parts = [*_reasoning(body), *parts_of(content)]
    if role is Role.TOOL:
        parts = _with_the_messages_id(parts, body)
    parts += _extra_calls(body, parts)
    refusal = as_str(body.get("refusal"))
    if refusal and not any(isinstance(part, TextPart) for part in parts):
        parts.append(TextPart(refusal))
    asked = with_written_calls(parts) if role is Role.ASSISTANT else None
    return _built(role, without_spelt_calls(asked or parts), as_str(body.get("name")))


def _written(role: object, content: object) -> tuple[Message, ...] | None:
    calls = written_calls(role, content)
    if calls is not None:
        return _built(Role.ASSISTANT, calls, None)
    result = written_result(role, content)
    if result is not None:
        return _built(Role.TOOL, (result,), None)
    return None


def content_of(body: Mapping[str, Any]) -> Any:
    content = first(body, "content", "contents", "blocks", "text", "body")
    if (
        type(content) is not str
        and isinstance(content, Mapping)
        and ("parts" in content or "content" in content)
        and "type" not in content
    ):
        return first(content, "parts", "content")  # Gemini's Content, or a message within a message
    return content


def author_of(body: Mapping[str, Any]) -> Role | None:
    content = body.get("content")
    nested = content.get("role") if isinstance(content, Mapping) else None
    return role_of(nested) or role_of(body.get("author")) or role_of(body.get("source"))


def _has_result_blocks(content: object) -> bool:
    if isinstance(content, str):
        content = decode(content, levels=2) if content[:1] in "[{" else None
    blocks = content if isinstance(content, list) else [content]
    return any(
        isinstance(part, ToolResultPart) for block in blocks if isinstance(block, Mapping) for part in parts_of(block)
    )


def _result_message(body: Mapping[str, Any], content: object) -> ToolResultPart:
    call_id = first(body, "tool_call_id", "call_id", "toolCallId", "tool_use_id", "id")
    return ToolResultPart(
        result=unwrap_result(content),
        call_id=as_str(call_id),
        name=as_str(first(body, "name", "tool_name")),
        is_error=body.get("status") == "error" or bool(as_bool(first(body, "is_error", "isError"))),
    )


def _with_the_messages_id(parts: list[Part], body: Mapping[str, Any]) -> list[Part]:
    """The one result in a tool's message answers the call that the message names, where the block names none."""
    bare = [part for part in parts if isinstance(part, ToolResultPart)]
    call_id = as_str(first(body, "tool_call_id", "call_id", "toolCallId", "tool_use_id"))
    if len(bare) != 1 or bare[0].call_id is not None or call_id is None:
        return parts
    return [replace(part, call_id=call_id) if part is bare[0] else part for part in parts]


def _reasoning(body: Mapping[str, Any]) -> list[Part]:
    text = as_str(first(body, "reasoning_content", "reasoning"))
    return [ReasoningPart(text)] if text else []


def _extra_calls(body: Mapping[str, Any], parts: list[Part]) -> list[Part]:
    """Calls beside the content; those that the content already holds as blocks are the same calls."""
    beside, old = first(body, "tool_calls", "toolCalls"), body.get("function_call")
    if beside is None and old is None:
        return []
    calls = decode(beside)
    found: list[Part] = []
    known = [part for part in parts if isinstance(part, ToolCallPart)]
    for item in calls if isinstance(calls, list) else []:
        if isinstance(item, Mapping):
            inner = item.get("tool_call")
            call = tool_call(inner if isinstance(inner, Mapping) else item)
            if not any(_same_call(call, other) for other in known):
                found.append(call)
    legacy = decode(old)
    if isinstance(legacy, Mapping) and legacy.get("name") and not known and not found:
        found.append(tool_call(legacy))
    return found


def _same_call(one: ToolCallPart, other: ToolCallPart) -> bool:
    if one.call_id and other.call_id:
        return one.call_id == other.call_id
    return one.name == other.name and one.arguments == other.arguments


def _built(role: Role, parts: tuple[Part, ...], name: str | None) -> tuple[Message, ...]:
    """The message, or several: results that came in another's message, and what was said beside them.

    A user answers calls before anything else is said; an assistant's message with the results of tools that the
    provider ran is in the order in which it happened.
    """
    if role is Role.ASSISTANT and any(isinstance(part, ToolResultPart) for part in parts):
        groups = groupby(parts, key=lambda part: isinstance(part, ToolResultPart))
        return tuple(_message(Role.TOOL if given else role, tuple(group), name) for given, group in groups)
    if role in {Role.USER, Role.SYSTEM} and any(isinstance(part, ToolResultPart) for part in parts):
        results = tuple(part for part in parts if isinstance(part, ToolResultPart))
        rest = tuple(part for part in parts if not isinstance(part, ToolResultPart))
        said = (_message(role, rest, name),) if any(not isinstance(p, TextPart) or p.text.strip() for p in rest) else ()
        return (_message(Role.TOOL, results, name), *said)
    return (_message(role, parts, name),)


def _message(role: Role, parts: tuple[Part, ...], name: str | None) -> Message:
    found: list[GapKind] = []
    for part in parts:
        if isinstance(part, TextPart):
            found += gaps_in(part.text)
        elif isinstance(part, ToolResultPart) and isinstance(part.result, str):
            found += gaps_in(part.result)
        elif isinstance(part, ToolCallPart) and isinstance(part.arguments, str):
            found += gaps_in(part.arguments)
    return with_digest(Message(role=role, parts=parts, name=name, gaps=tuple(sorted(set(found))) if found else ()))
