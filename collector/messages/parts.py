"""Content blocks of every provider and framework to parts.

One block is a string or an object; what kind it is shows in `type`, or, where a provider has none, in its only key
(Bedrock, Gemini, Haystack). A block that nothing knows becomes the text it holds, else a placeholder with its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.messages.reprs import CLASS
from collector.messages.values import as_bool, as_str, decode, first, object_or_text, plain, text_of
from collector.model import JsonValue
from collector.operation import CompactionPart, MediaPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart

APPROVAL_CALL, APPROVAL_RESULT = "mcp_approval_request", "mcp_approval_response"
_TEXT = {
    "text_content",
    "text_block",
    "text_part",
    "text",
    "input_text",
    "output_text",
    "summary_text",
    "refusal",
    "markdown",
    "str",
}
_REASONING = {"reasoning", "thinking", "redacted_thinking", "reasoning_content", "thought", "encrypted_reasoning"}
_CALL = {
    "tool_call", "tool_use", "tool-call", "function_call", "server_tool_use", "server_tool_call", "function",
    "tool_call_block", "tool_call_part", "mcp_call", "mcp_tool_use", "custom_tool_call", "tool_request",
    "tool-invocation", "toolcall", "openapi_call", APPROVAL_CALL }  # fmt: skip
_RESULT = {
    "tool_call_response", "tool_call_result", "tool_return_part", "tool_result", "tool-result",
    "function_call_output", "server_tool_call_response", "function_response", "mcp_tool_result",
    "custom_tool_call_output", "web_search_tool_result", "tool-return", "retry-prompt", "tool_response",
    "code_execution_tool_result", "tool-error", "openapi_call_output", APPROVAL_RESULT }  # fmt: skip
_CALL_KEYS = {"toolUse", "toolRequest", "functionCall", "function_call", "tool_call", "tool_use"}
_RESULT_KEYS = {
    "toolResult", "toolResponse", "functionResponse", "function_response", "tool_call_result", "tool_result",
}  # fmt: skip
_REASONING_KEYS = {"reasoningContent", "reasoning", "thinking"}
_MEDIA_KEYS = {
    "inline_data", "inlineData", "file_data", "fileData", "image", "document", "video", "audio", "file",
}  # fmt: skip
_KEYED = frozenset({*_CALL_KEYS, *_RESULT_KEYS, *_REASONING_KEYS, *_MEDIA_KEYS, "message_content"})
_COMPACTION = {"compaction", "summary", "context_compaction"}
_MEDIA = {
    "image": "image", "image_url": "image", "input_image": "image", "image-url": "image", "audio": "audio",
    "input_audio": "audio", "video": "video", "video_url": "video", "file": "file", "input_file": "file",
    "document": "file", "blob": "file", "uri": "file", "file_data": "file", "file_search": "file", "binary": "file",
}  # fmt: skip
_RESULT_MEMBERS = (
    "response", "result", "output", "content", "value", "text", "tool_result", "function_call_output",
    "openapi_call_output",
)  # fmt: skip
_MAX_PARTS = 10_000
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def parts_of(content: object, *, depth: int = 6) -> tuple[Part, ...]:
    """The parts of a message's content: a text, one block, or a list of blocks."""
    usual = usual_parts(content)
    if usual is not None:
        return usual
    found: list[Part] = []
    for part in _parts(content, depth):
        found.append(part)
        if len(found) >= _MAX_PARTS:
            break
    return tuple(found)


def usual_parts(content: object) -> tuple[Part, ...] | None:
    """What `parts_of` gives for a text, and for blocks of text, calls and results with a type; None for the rest."""
    if type(content) is str:
        return (TextPart(content),) if content and content[0] not in "[{" else None
    if type(content) is not list or len(content) > _MAX_PARTS:
        return None
    found: list[Part] = []
    for block in content:
        kind = block.get("type") if type(block) is dict else None
        if type(kind) is not str:
            return None
        if kind == "text":
            text = first(block, "content", "text")
            if type(text) is not str or not text:
                return None
            found.append(TextPart(text))
        elif kind in _CALL:
            call = tool_call(block)
            if call.name or call.call_id or call.arguments is not None:
                found.append(call)
        elif kind in _RESULT:
            found.append(tool_result(block))
        else:
            return None
    return tuple(found)


def _parts(content: object, depth: int) -> Iterator[Part]:
    if content is None or depth <= 0:
        return
    if isinstance(content, str):
        yield from _text(content, depth)
    elif isinstance(content, list):
        for block in content:
            yield from [TextPart(block)] if isinstance(block, str) and block else _parts(block, depth - 1)
    elif isinstance(content, Mapping):
        yield from _block(content, depth)
    elif isinstance(content, bytes):
        yield MediaPart(modality="file")
    else:
        yield TextPart(text_of(content))


def _text(text: str, depth: int) -> Iterator[Part]:
    """A text; or blocks that were encoded as JSON text, which only what looks like blocks is taken for."""
    if text[:1] in "[{":
        found = decode(text, levels=2)
        blocks = found if isinstance(found, list) else [found]
        if blocks and all(_is_block(block) for block in blocks):
            yield from _parts(blocks, depth - 1)
            return
    if text:
        yield TextPart(text)


def _is_block(block: object) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = block.get("type")
    if isinstance(kind, str):
        known = kind in _TEXT or kind in _REASONING or kind in _CALL or kind in _RESULT or kind in _MEDIA
        return known and len(block) > 1
    return len(block) == 1 and next(iter(block)) in {"toolUse", "toolResult", "reasoningContent", "text"}


def _block(block: Mapping[str, Any], depth: int) -> Iterator[Part]:
    kind = str(
        block.get("type") or block.get("part_kind") or block.get("block_type") or _snake(block.get(CLASS))
    ).lower()
    if kind in _CALL:
        call = tool_call(block)
        if call.name or call.call_id or call.arguments is not None:
            yield call
    elif kind in _RESULT or kind.endswith("_tool_result"):
        yield tool_result(block)
    elif kind in _REASONING:
        yield ReasoningPart(text_of(first(block, "content", "text", "thinking", "summary", "reasoning")))
    elif kind in _COMPACTION:
        yield CompactionPart(as_str(first(block, "content", "text")))
    elif kind in _MEDIA:
        yield _media(block, _MEDIA[kind])
    elif kind in _TEXT:
        text = text_of(first(block, "content", "text", "refusal"))
        if text:
            yield TextPart(text)
    else:
        yield from _untyped(block, depth)


def _snake(name: object) -> str:
    return _HUMP.sub("_", name) if isinstance(name, str) else ""


def _untyped(block: Mapping[str, Any], depth: int) -> Iterator[Part]:
    """Blocks whose key says what they are; Gemini's may hold several keys, one of them filled."""
    found = [part for key, value in block.items() if value is not None for part in _by_key(key, value, depth)]
    if found or not _KEYED.isdisjoint(block):
        yield from found
        return
    text = block.get("text")
    if isinstance(text, Mapping):
        text = text.get("value")  # OpenAI's assistants, without their type
    if isinstance(text, str):
        if text:
            yield ReasoningPart(text) if block.get("thought") is True else TextPart(text)
    elif "content" in block or "parts" in block:
        yield from _parts(first(block, "parts", "content"), depth - 1)
    elif block:
        kind = as_str(block.get("type"))
        yield MediaPart(modality=kind) if kind else TextPart(text_of(block))


def _by_key(key: str, value: object, depth: int) -> Iterator[Part]:
    fields = value if isinstance(value, Mapping) else {}
    if key in _CALL_KEYS and fields:
        yield tool_call(fields)
    elif key in _RESULT_KEYS and fields:
        yield tool_result(fields)
    elif key in _REASONING_KEYS:
        yield ReasoningPart(text_of(value))
    elif key == "message_content" and fields and depth > 0:
        yield from _block(fields, depth - 1)
    elif key in _MEDIA_KEYS:
        yield _media(fields, "file" if "ata" in key else key)


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


def _media(block: Mapping[str, Any], modality: str) -> MediaPart:
    url = block.get("image_url") or block.get("url") or block.get("uri") or block.get("file_id") or block.get("fileUri")
    if isinstance(url, Mapping):
        url = url.get("url")
    reference = url if isinstance(url, str) and not url.startswith("data:") and len(url) <= 2048 else None
    return MediaPart(
        modality=as_str(block.get("modality")) or modality,
        mime_type=as_str(first(block, "mime_type", "mimeType", "media_type", "mediaType")),
        reference=reference,
    )


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
