"""JSON values of the telemetry as text: the same value gives the same text, at any depth, and nothing raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from collector.model import JsonValue

_MAX_DEPTH = 64
_MAX_INTEGER_BITS = 4096
_PLAIN_NAME = re.compile(r"[\w.:/-]{1,128}", re.ASCII)


def value_text(value: JsonValue) -> str:
    """A string as it stands, anything else as JSON with the usual spaces, non-ASCII unescaped."""
    return value if isinstance(value, str) else json_text(value)


def json_text(value: object) -> str:
    return json.dumps(_bounded(value, _MAX_DEPTH), ensure_ascii=False)


def name_text(name: str) -> str:
    """A tool's or agent's name; one that could be read as something else is quoted."""
    return name if _PLAIN_NAME.fullmatch(name) else json_text(name)


def _bounded(value: object, depth: int) -> object:
    if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        return f"(an integer of {value.bit_length()} bits)"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if depth == 0:
        return "(nested too deep to show)"
    if isinstance(value, Mapping):
        return {str(key): _bounded(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_bounded(item, depth - 1) for item in value]
    return str(value)
