"""Calls and results that a framework writes out as text.

Where a model is not trusted with tools of its own, its framework keeps the calls as "tool-call" messages, a sentence
and a printed list, and what came back as "tool-response" messages: one text for all calls of a step, under a heading,
without ids. The provider is sent the same texts under the roles that it knows, assistant and user. There, calls are
only read out of a list that is nothing else, and a user's text is only a result where calls wait for one. So it is with
the actions and observations of a model that reasons in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from collector.messages.digests import with_digest
from collector.messages.parts import parts_of
from collector.messages.reprs import decode_repr
from collector.messages.tool_blocks import tool_call
from collector.messages.values import canonical, decode, object_or_text, plain
from collector.operation import Chain, Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart

_CALLS = frozenset({"tool-call", "tool_call", "toolcall"})
_RESULTS = frozenset({"tool-response", "tool_response", "toolresponse"})
_HEADING = re.compile(r"\A\s*(?:Observations?:[ \t]*\n?|(?:Tool response|Result):[ \t]*\n)")
_CALL_ID = re.compile(r"\A\s*Call id:[ \t]*(?P<id>\S+)[ \t]*\n")
_ASKING = "Calling tools:\n["
_ACTING = "Action Input:"
_ACTION = re.compile(
    r"^Action:[ \t]*(?P<name>[\w.-]{1,128})[ \t]*\n+Action Input:\s*(?P<given>\{.*\})\s*\Z", re.MULTILINE | re.DOTALL
)
"""How a model is made to call a tool in words (ReAct), where it stops to be told what the tool observed."""
_THOUGHT = "Thought:"
_ANSWER = re.compile(r"\A\s*Thought:(?P<thought>.*?)^(?:Final )?Answer:\s*(?P<answer>.*)\Z", re.MULTILINE | re.DOTALL)
_TASK = "\nNew task:\n"
"""The user's next words, where they were put into one message with what a tool gave back."""
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
    return (_listed(text[start:]) if start >= 0 else ()) or parts_of(content)


def may_ask(part: Part) -> bool:
    """A quick look, for every message is looked at."""
    return isinstance(part, TextPart) and (
        _ASKING in part.text or _ACTING in part.text or part.text.lstrip().startswith(_THOUGHT)
    )


def with_written_calls(parts: Sequence[Part]) -> tuple[Part, ...] | None:
    """An assistant's parts with the calls that its text ends with, or the answer that its thought does; else None."""
    last = parts[-1] if parts else None
    if not isinstance(last, TextPart):
        return None
    start = last.text.rfind(_ASKING)
    asked = _listed(last.text[start + len(_ASKING) - 1 :]) if start >= 0 else ()
    if not asked:
        start, asked = _acted(last.text)
    if not asked:
        answered = _ANSWER.match(last.text)
        if answered is None or not answered["answer"].strip():
            return None
        return (*parts[:-1], ReasoningPart(answered["thought"].strip()), TextPart(answered["answer"].strip()))
    said = last.text[:start].rstrip()
    return (*parts[:-1], *([TextPart(said)] if said else []), *asked)


def _acted(text: str) -> tuple[int, tuple[ToolCallPart, ...]]:
    """Where the last action of a text begins, and the call that it is."""
    start = text.rfind("Action:", 0, max(0, text.rfind(_ACTING)))
    found = _ACTION.match(text, start) if start >= 0 and (start == 0 or text[start - 1] == "\n") else None
    if found is None:
        return -1, ()
    given: Any = decode(found["given"])
    if isinstance(given, str):
        given = decode_repr(given)
    return (start, (ToolCallPart(found["name"], plain(given)),)) if isinstance(given, Mapping) else (-1, ())


def without_spelt_calls(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Without texts that are but the JSON of a call of the same message; blocks of no known type are recorded so."""
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    return tuple(part for part in parts if not (calls and may_spell(part) and _spells(part, calls)))


def may_spell(part: Part) -> bool:
    return isinstance(part, TextPart) and part.text[:1] == "{"


def _spells(part: Part, calls: Sequence[ToolCallPart]) -> bool:
    found = decode(part.text) if isinstance(part, TextPart) else None
    if not isinstance(found, Mapping) or "name" not in found:
        return False
    told = tool_call(found)
    return any(
        call.name == told.name
        and (call.call_id == told.call_id or canonical(call.arguments) == canonical(told.arguments))
        for call in calls
    )


def untold_result(chain: Chain | None, message: Message) -> tuple[Message, ...]:
    """The message, or what it is in truth: the result of the calls just before it, and the user's next words."""
    first = message.parts[0] if message.parts else None
    if message.role is not Role.USER or not isinstance(first, TextPart) or chain is None:
        return (message,)
    heading = _HEADING.match(first.text)
    if heading is None or not any(isinstance(part, ToolCallPart) for part in chain.message.parts):
        return (message,)
    result, _, words = first.text[heading.end() :].partition(_TASK)
    told = Message(role=Role.TOOL, parts=(ToolResultPart(object_or_text(result)),), gaps=message.gaps)
    rest = (*([TextPart(words)] if words else []), *message.parts[1:])
    said = [with_digest(replace(message, parts=rest))] if rest else []
    return (with_digest(told), *said)


def _listed(text: str) -> tuple[ToolCallPart, ...]:
    listed: Any = decode(text)
    if isinstance(listed, str):
        listed = decode_repr(listed)
    calls = [tool_call(item) for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    return tuple(call for call in calls if call.name)


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
