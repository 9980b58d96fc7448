"""Content blocks of every provider and framework to parts.

One block is a string or an object; what kind it is shows in `type`, or, where a provider has none, in its only key
(Bedrock, Gemini, Haystack). A block that nothing knows becomes the text it holds, else a placeholder with its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.messages.block_kinds import (
    CALL,
    CALL_KEYS,
    COMPACTION,
    KEYED,
    MEDIA,
    MEDIA_KEYS,
    REASONING,
    REASONING_KEYS,
    RESULT,
    RESULT_KEYS,
    TEXT,
)
from collector.messages.reprs import CLASS
from collector.messages.tool_blocks import tool_call, tool_result
from collector.messages.values import as_str, decode, first, text_of
from collector.operation import CompactionPart, MediaPart, Part, ReasoningPart, TextPart

_DUMPED = ('{"reasoningContent"', '[{"type":"text"', '[{"type": "text"')
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
            if type(text) is not str or not text or text.startswith(_DUMPED):
                return None
            found.append(TextPart(text))
        elif kind in CALL:
            call = tool_call(block)
            if call.name or call.call_id or call.arguments is not None:
                found.append(call)
        elif kind in RESULT:
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
        known = kind in TEXT or kind in REASONING or kind in CALL or kind in RESULT or kind in MEDIA
        return known and len(block) > 1
    return len(block) == 1 and next(iter(block)) in {"toolUse", "toolResult", "reasoningContent", "text"}


def _block(block: Mapping[str, Any], depth: int) -> Iterator[Part]:
    kind = str(
        block.get("type") or block.get("part_kind") or block.get("block_type") or _snake(block.get(CLASS))
    ).lower()
    if kind in CALL:
        call = tool_call(block)
        if call.name or call.call_id or call.arguments is not None:
            yield call
    elif kind in RESULT or kind.endswith("_tool_result"):
        yield tool_result(block)
    elif kind in REASONING:
        yield ReasoningPart(text_of(first(block, "content", "text", "thinking", "summary", "reasoning")))
    elif kind in COMPACTION:
        yield CompactionPart(as_str(first(block, "content", "text")))
    elif kind in MEDIA:
        yield _media(block, MEDIA[kind])
    elif kind in TEXT:
        text = text_of(first(block, "content", "text", "refusal"))
        if text.startswith(_DUMPED):
            yield from _dumped(text)
        elif text:
            yield TextPart(text)
    else:
        yield from _untyped(block, depth)


def _dumped(text: str) -> Iterator[Part]:
    """Blocks that an instrumentation writes as a text since it does not know them: reasoning, or a list of texts."""
    found = decode(text)
    inner = found.get("reasoningContent") if isinstance(found, Mapping) and len(found) == 1 else None
    blocks = found if isinstance(found, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, Mapping) and block.get("type") == "text"]
    if isinstance(inner, Mapping):
        yield ReasoningPart(text_of(inner))
    elif texts and len(texts) == len(blocks) and all(isinstance(one, str) for one in texts):
        yield from (TextPart(one) for one in texts if one)
    else:
        yield TextPart(text)


def _snake(name: object) -> str:
    return _HUMP.sub("_", name) if isinstance(name, str) else ""


def _untyped(block: Mapping[str, Any], depth: int) -> Iterator[Part]:
    """Blocks whose key says what they are; Gemini's may hold several keys, one of them filled."""
    found = [part for key, value in block.items() if value is not None for part in _by_key(key, value, depth)]
    if found or not KEYED.isdisjoint(block):
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
    if key in CALL_KEYS and fields:
        yield tool_call(fields)
    elif key in RESULT_KEYS and fields:
        yield tool_result(fields)
    elif key in REASONING_KEYS:
        yield ReasoningPart(text_of(value))
    elif key == "message_content" and fields and depth > 0:
        yield from _block(fields, depth - 1)
    elif key in MEDIA_KEYS:
        yield _media(fields, "file" if "ata" in key else key)


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
