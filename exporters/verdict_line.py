"""A verdict as a line of JSON, and as the mapping that the line holds: plain values, text made harmless to show."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from evaluators.verdict import Verdict
from exporters.plain import placeholder, plain_json
from exporters.text import clean_text

SCHEMA: Final = "adhere.verdict/1"
_MAX_TEXT_CHARS: Final = 100_000


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    fields = plain_json(msgspec.to_builtins(verdict, enc_hook=placeholder))
    assert isinstance(fields, dict)
    return {key: _cleaned(value) for key, value in fields.items()}


def verdict_line(verdict: Verdict) -> bytes:
    return msgspec.json.encode({"schema": SCHEMA} | verdict_fields(verdict)) + b"\n"


def _cleaned(value: object) -> object:
    match value:
        case str():
            return clean_text(value, max_chars=_MAX_TEXT_CHARS)
        case dict():
            return {clean_text(str(key), max_chars=_MAX_TEXT_CHARS): _cleaned(item) for key, item in value.items()}
        case list():
            return [_cleaned(item) for item in value]
        case _:
            return value
