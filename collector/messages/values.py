"""Values as they arrive, to plain values: bounded, and never an exception.

Content comes as an AnyValue, as JSON text, or as JSON text within JSON text. `decode` undoes that, `plain` copies a
value into JSON's own types with a bound on its depth, and `text_of` gives what a person would read.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from collector.model import JsonValue
from collector.telemetry.json_text import loads

MAX_LEVELS = 4
"""JSON within JSON within ...: real telemetry needs three."""
MAX_DEPTH = 48
TOO_DEEP = "[nested too deep]"

_CLOSERS = {"{": "}", "[": "]", '"': '"'}
_TEXT_KEYS = ("text", "content", "output_text", "input_text", "thinking", "value", "output", "result")


def decode(value: object, *, levels: int = MAX_LEVELS) -> Any:
    """The object or array that a string holds, however often it was encoded; else the value as it is."""
    for _ in range(levels):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            return value
        inner = _loads(value)
        if inner is None:
            return value
        value = inner
    return value


def decode_container(value: object) -> Any:
    """Like `decode`, but None for what is no object or array in the end."""
    found = decode(value)
    return found if isinstance(found, (dict, list)) else None


def _loads(text: str) -> Any:
    """Object, array or text inside `text`; None for anything else, numbers included (a text "1001" stays a text)."""
    closer = _CLOSERS.get(text[:1]) or _CLOSERS.get(text.lstrip()[:1])
    # What does not end as it begins is no JSON; a parser takes long to say so.
    if closer is None or (text[-1:] != closer and text.rstrip()[-1:] != closer):
        return None
    try:
        inner = loads(text)
    except ValueError:
        return None
    return inner if isinstance(inner, (dict, list, str)) else None


def plain(value: object, *, depth: int = MAX_DEPTH) -> JsonValue:
    """A copy in JSON's own types; what is nested too deep becomes a marker, bytes become base64."""
    kind = type(value)
    if kind is str or value is None or kind is int or kind is bool or kind is float:
        return value  # type: ignore[return-value]  # it is one of these
    if kind is dict and depth > 0:
        below = depth - 1
        return {
            key if type(key) is str else str(key): item if type(item) is str else plain(item, depth=below)
            for key, item in value.items()  # type: ignore[attr-defined]  # a dict
        }
    if kind is list and depth > 0:
        return [plain(item, depth=depth - 1) for item in value]  # type: ignore[attr-defined]  # a list
    return _plain_of_rare(value, depth)


def _plain_of_rare(value: object, depth: int) -> JsonValue:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if depth <= 0:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth=depth - 1) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item, depth=depth - 1) for item in value]
    return str(value)


def object_or_text(value: object) -> JsonValue:
    """Arguments and results: what a string holds if that is an object or array, else the value itself."""
    found = decode(value)
    if isinstance(found, (dict, list)):
        return plain(found)
    return plain(value) if not isinstance(value, str) or not isinstance(found, str) else found


def canonical(value: object) -> bytes:
    """Equal bytes for equal values, whether they came as JSON text or as an object."""
    found = decode(value)
    if isinstance(found, str):
        return squash(found).encode("utf-8", "surrogatepass")
    try:
        return orjson.dumps(found, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        try:
            return orjson.dumps(plain(found), option=orjson.OPT_SORT_KEYS)
        except (TypeError, ValueError):
            return repr(plain(found)).encode("utf-8", "surrogatepass")


def squash(text: str) -> str:
    """One space between words and none around them: how two sightings of a text are compared."""
    return " ".join(text.split())


def text_of(value: object, *, depth: int = 8) -> str:
    """What a person would read of a content value: its texts, one block a line; JSON where it is no text at all."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if depth > 0 and isinstance(value, Mapping):
        for key in _TEXT_KEYS:
            if isinstance(value.get(key), (str, list)):
                return text_of(value[key], depth=depth - 1)
    if depth > 0 and isinstance(value, list):
        texts = [text_of(item, depth=depth - 1) for item in value]
        return "\n".join(text for text in texts if text)
    return dump(value)


def dump(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        try:
            return orjson.dumps(plain(value)).decode()
        except (TypeError, ValueError):
            return str(plain(value))


def as_str(value: object) -> str | None:
    """A non-empty string, or None."""
    return value if isinstance(value, str) and value else None


def as_int(value: object) -> int | None:
    """An integer, also where it came as a text or a float."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]  # anything may arrive; what int refuses is caught
    except (TypeError, ValueError, OverflowError):
        return None


def as_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    return None


def first(source: Mapping[str, Any], *keys: str) -> Any:
    """The first value under `keys` that is neither absent nor empty text."""
    for key in keys:
        value = source.get(key)
        if value is not None and value != "":
            return value
    return None


def join_texts(texts: Sequence[str]) -> str:
    """The pieces of one message's text. Streamed pieces go together as they are; separate sentences get a line each."""
    joined = ""
    for text in texts:
        ends = joined[-1:]
        separate = ends in _SENTENCE_ENDS and not text[:1].isspace() and text[:1].isupper() if ends else False
        joined += f"\n{text}" if separate else text
    return joined


_SENTENCE_ENDS = frozenset(".!?:;")
