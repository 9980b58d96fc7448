"""Calls and results that a framework writes out as text, in messages whose role alone says what they are.

Where a model is not trusted with tools of its own, its framework keeps the calls as "tool-call" messages, a sentence
and a printed list, and what came back as "tool-response" messages: one text for all calls of a step, under a heading,
without ids. Nothing is read out of a text whose role says less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from collector.messages.parts import parts_of, tool_call
from collector.messages.reprs import decode_repr
from collector.messages.values import decode
from collector.operation import Part, TextPart, ToolCallPart, ToolResultPart

_CALLS = frozenset({"tool-call", "tool_call", "toolcall"})
_RESULTS = frozenset({"tool-response", "tool_response", "toolresponse"})
_HEADING = re.compile(r"\A\s*(?:Observations?|Tool response|Result):[ \t]*\n")
_CALL_ID = re.compile(r"\A\s*Call id:[ \t]*(?P<id>\S+)[ \t]*\n")
_MAX_PROSE = 200
"""A list begins within so many characters, or the text is no list of calls."""


def is_written(role: object) -> bool:
    """Whether messages of that role hold calls or results as text."""
    return _name(role) in _CALLS or _name(role) in _RESULTS


def written_calls(role: object, content: object) -> tuple[Part, ...] | None:
    """The calls of a message of that role; its text where it holds none; None for another role."""
    if _name(role) not in _CALLS:
        return None
    text = _text(content)
    start = text.find("[", 0, _MAX_PROSE)
    listed: Any = decode(text[start:]) if start >= 0 else None
    if isinstance(listed, str):
        listed = decode_repr(listed)
    calls = [tool_call(item) for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    found: tuple[ToolCallPart, ...] = tuple(call for call in calls if call.name)
    return found or parts_of(content)


def written_result(role: object, content: object) -> ToolResultPart | None:
    """What came back, without its heading; None for another role, or for blocks that say themselves what they are."""
    if _name(role) not in _RESULTS:
        return None
    parts = parts_of(content)
    if any(isinstance(part, ToolResultPart) for part in parts):
        return None
    text = _text(content)
    named = _CALL_ID.match(text)
    text = text[named.end() :] if named is not None else text
    return ToolResultPart(result=_HEADING.sub("", text), call_id=named["id"] if named is not None else None)


def _text(content: object) -> str:
    return "\n".join(part.text for part in parts_of(content) if isinstance(part, TextPart))


def _name(role: object) -> str:
    return role.strip().lower().rpartition(".")[2].strip("'\">: ") if isinstance(role, str) else ""
