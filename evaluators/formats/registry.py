"""Which form a value has, and the conversation in it. The forms are asked in this order; the first that fits reads.

Whatever the value is, the answer is a conversation or an `InputFormError`; no text of the conversation is lost, but for
the agent's private reasoning, which judges are not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from collector.messages.values import decode
from collector.model import Conversation
from evaluators.errors import InputFormError
from evaluators.formats import chat, dialogue, otlp, pairs, query_response
from evaluators.nearest import did_you_mean


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    fits: Callable[[object], bool]
    read: Callable[[Any], Sequence[Conversation]]


def _one(read: Callable[[Any], Conversation]) -> Callable[[Any], Sequence[Conversation]]:
    return lambda value: [read(value)]


_FORMATS = (
    Format("otlp", otlp.fits, lambda value: otlp.read([value])),
    Format("query_response", query_response.fits, _one(query_response.read)),
    Format("pairs", pairs.fits, _one(pairs.read)),
    Format("dialogue", dialogue.fits, _one(dialogue.read)),
    Format("chat", chat.fits, _one(chat.read)),
)
_MAX_DEPTH = 48
FORMAT_NAMES = tuple(one.name for one in _FORMATS)
_ACCEPTED = (
    "turns of input and actual_output, turns of role and content, query and response, a list of messages, "
    "or an OTLP request"
)


def conversations_from(value: object, *, name: str | None = None) -> Sequence[Conversation]:
    """The conversations in a value of any accepted form, or of the one that is named. Raises `InputFormError`."""
    if isinstance(value, Conversation):
        return [value]
    found = _opened(value)
    chosen = _chosen(found, name)
    try:
        return chosen.read(found)
    except RecursionError as err:
        raise InputFormError("The conversation is nested too deep to be read.") from err


def conversation_from(value: object, *, name: str | None = None) -> Conversation:
    """The one conversation in a value. Raises `InputFormError`."""
    found = conversations_from(value, name=name)
    if len(found) != 1:
        raise InputFormError(f"The value holds {len(found)} conversations; give one at a time.")
    return found[0]


def _opened(value: object) -> object:
    """JSON text is opened, and what only says that it holds a conversation is taken off."""
    if isinstance(value, str | bytes | bytearray):
        value = decode(bytes(value) if isinstance(value, bytearray) else value)
    value = _as_data(value, _MAX_DEPTH)
    inner = value.get("conversation") if isinstance(value, Mapping) else None
    if isinstance(inner, Mapping) and isinstance(value, Mapping):
        return {**value, **inner}
    if isinstance(inner, list) and isinstance(value, Mapping):
        key = "turns" if pairs.fits(inner) else "messages"
        return {**value, key: inner}
    return value


def _as_data(value: object, depth: int) -> Any:
    """Objects of other tools' classes, such as their test cases, as the mappings that they stand for."""
    if depth <= 0 or value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {key: _as_data(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_data(item, depth - 1) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _as_data(getattr(value, field.name), depth - 1) for field in fields(value)}
    dump = getattr(value, "model_dump", None)
    if not callable(dump) or isinstance(value, type):
        return value
    try:
        return _as_data(dump(), depth - 1)
    except Exception as err:  # Somebody else's class may raise anything.
        raise InputFormError(f"An object of the class {type(value).__name__} cannot be read as data.") from err


def _chosen(value: object, name: str | None) -> Format:
    if name is not None:
        named = next((one for one in _FORMATS if one.name == name), None)
        if named is None:
            raise InputFormError(f"No input form is named {name!r}; {did_you_mean(name, FORMAT_NAMES)}")
        if not named.fits(value):
            raise InputFormError(f"The value is not of the form {name!r}.")
        return named
    fitting = next((one for one in _FORMATS if one.fits(value)), None)
    if fitting is None:
        raise InputFormError(f"The value is no conversation in a known form: give {_ACCEPTED}.")
    return fitting
