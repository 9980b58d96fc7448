"""An answer that was recorded in the pieces in which it was streamed: pieces of text, or a provider's chunks.

Some instrumentations record a generator's output as the list of what it yielded. Together the pieces are one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeGuard

from collector.messages.digests import with_digest
from collector.messages.values import as_int, as_str, decode
from collector.operation import Message, Role, TextPart

_KEYS = ("output", "outputs", "chunks")
_MAX_PIECES = 100_000


def answer_in_pieces(value: object) -> list[Any] | None:
    """The one message that a list of pieces makes; None where the value is no such list."""
    found = decode(value)
    if isinstance(found, Mapping) and len(found) == 1:
        found = decode(next((found[key] for key in _KEYS if key in found), None))
    if not isinstance(found, list) or not found or len(found) > _MAX_PIECES:
        return None
    if len(found) > 1 and all(isinstance(piece, str) for piece in found):
        return [{"role": "assistant", "content": "".join(found)}]
    deltas = list(_deltas(found))
    if not deltas:
        return None
    text = "".join(delta["content"] for delta in deltas if isinstance(delta.get("content"), str))
    calls = _calls(deltas)
    return [{"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}]


def unfinished_choices(value: object) -> list[Any] | None:
    """Output messages of which only the last has finished: the pieces of one answer, not choices to choose from."""
    found = decode(value)
    if not isinstance(found, list) or not 1 < len(found) <= _MAX_PIECES:
        return None
    if not all(isinstance(piece, Mapping) and isinstance(piece.get("parts"), list) for piece in found):
        return None
    if any(piece.get("finish_reason", "?") not in ("", None) for piece in found[:-1]):
        return None
    parts: list[Any] = []
    for piece in found:
        for part in piece["parts"]:
            last = parts[-1] if parts else None
            if _is_text(part) and _is_text(last) and part["type"] == last["type"]:
                parts[-1] = {**last, "content": last["content"] + part["content"]}
            else:
                parts.append(part)
    return [{**found[-1], "parts": parts}]


def in_whole(messages: Iterable[Message]) -> Iterator[Message]:
    """Messages as they are, but for an answer that is replayed as one message a piece.

    A piece is told by a blank at its edge: two messages in a row that somebody wrote have none.
    """
    run: list[Message] = []
    for message in messages:
        if message.role is not Role.ASSISTANT and run:
            yield from _joined(run)
            run = []
        if message.role is Role.ASSISTANT:
            run.append(message)
        else:
            yield message
    yield from _joined(run)


def _joined(run: list[Message]) -> list[Message]:
    if len(run) < 2:
        return run
    texts = [part.text for message in run for part in message.parts if isinstance(part, TextPart)]
    if not any(one.endswith(" ") or two.startswith(" ") for one, two in pairwise(texts)):
        return run
    others = [part for message in run for part in message.parts if not isinstance(part, TextPart)]
    return [with_digest(replace(run[-1], parts=(TextPart("".join(texts)), *others)))]


def _is_text(part: object) -> TypeGuard[Mapping[str, Any]]:
    return (
        isinstance(part, Mapping) and part.get("type") in {"text", "reasoning"} and isinstance(part.get("content"), str)
    )


def _deltas(pieces: list[Any]) -> Iterator[Mapping[str, Any]]:
    """What each chunk of a chat completion adds; nothing at all where the pieces are no such chunks."""
    for piece in pieces:
        chunk = decode(piece)
        choices = chunk.get("choices") if isinstance(chunk, Mapping) else None
        for choice in choices if isinstance(choices, list) else []:
            delta = choice.get("delta") if isinstance(choice, Mapping) and not choice.get("index") else None
            if isinstance(delta, Mapping):
                yield delta


def _calls(deltas: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tool calls, whose name comes once and whose arguments come in pieces, by their index."""
    calls: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        pieces = delta.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else []:
            if not isinstance(piece, Mapping):
                continue
            call = calls.setdefault(as_int(piece.get("index")) or 0, {"id": None, "name": "", "arguments": ""})
            function = piece.get("function")
            function = function if isinstance(function, Mapping) else {}
            call["id"] = call["id"] or as_str(piece.get("id"))
            call["name"] = call["name"] or as_str(function.get("name")) or ""
            call["arguments"] += as_str(function.get("arguments")) or ""
    return [calls[index] for index in sorted(calls)]
