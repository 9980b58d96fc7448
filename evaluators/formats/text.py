"""The words in a value that is meant to be one text: a text, content blocks, or other JSON, which is shown whole."""

from __future__ import annotations

from collections.abc import Mapping

from collector.assembly.said import text_in
from collector.messages.parts import parts_of
from collector.messages.values import as_str, plain
from collector.operation import MediaPart, Message, Part, Role, TextPart
from evaluators.transcript.values import json_text

_MAX_BLOCKS = 10_000


def words(value: object) -> str | None:
    """None for what is not there; media become typed placeholders."""
    if value is None or isinstance(value, str):
        return value
    spoken = value.get("user_message") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and isinstance(spoken, str):  # A transcript beside the recording that it is of.
        media = [part for part in parts_of(plain(value.get("content"))) if isinstance(part, MediaPart)]
        return text_of((TextPart(spoken), *media))
    if _is_blocks(value):
        parts = parts_of(plain(value))
        if all(isinstance(part, TextPart | MediaPart) for part in parts):
            return text_of(parts)
    return json_text(plain(value))


def texts(value: object) -> list[str]:
    """A text or a list of them, as a list of those that say something."""
    items = value if isinstance(value, list | tuple) else [value]
    return [text for item in items[:_MAX_BLOCKS] if (text := words(item)) and text.strip()]


def text_of(parts: tuple[Part, ...]) -> str:
    return text_in(Message(Role.USER, parts))


def _is_blocks(value: object) -> bool:
    if isinstance(value, Mapping):
        return as_str(value.get("type")) is not None
    return isinstance(value, list) and all(
        isinstance(item, str) or (isinstance(item, Mapping) and as_str(item.get("type")) is not None) for item in value
    )
