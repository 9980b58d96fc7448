"""Reads a judge's answer strictly: one JSON object of the asked form, or `UnusableAnswerError`; never a guess.

Tolerated around the object are only a byte order mark, a code fence and the visible thinking of local reasoning models,
since these are the server's manners and not the judge's words. Duplicate keys, unknown fields, other types and words
outside of the vocabulary are refused.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

import msgspec

from evaluators.judge.errors import UnusableAnswerError
from evaluators.transcript.escape import one_line

T = TypeVar("T", bound=msgspec.Struct)

_MAX_CHARS = 512 * 1024
_THINKING = re.compile(r"\A(?:\s*<(think|thinking|reasoning)>.*?</\1>)+", re.DOTALL)
_OPENED_BY_TEMPLATE = re.compile(r"\A[^{`].*?</(?:think|thinking|reasoning)>", re.DOTALL)
"""Some chat templates write the tag that opens it themselves, so that an answer begins within it."""
_BOM = "\ufeff"
_FENCED = re.compile(r"\A```[a-zA-Z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)


def decode_answer(content: str, answer_type: type[T]) -> T:
    if len(content) > _MAX_CHARS:
        raise UnusableAnswerError(f"It was longer than {_MAX_CHARS} characters.")
    text = _THINKING.sub("", content.strip().strip(_BOM)).strip()
    text = _OPENED_BY_TEMPLATE.sub("", text).strip().strip(_BOM).strip()
    fenced = _FENCED.match(text)
    if fenced:
        text = fenced[1].strip()
    if not text.startswith("{"):
        raise UnusableAnswerError("It was not a JSON object.")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as err:
        raise UnusableAnswerError("It was not valid JSON, or more than one JSON object.") from err
    try:
        return msgspec.convert(value, answer_type, strict=True)
    except msgspec.ValidationError as err:
        raise UnusableAnswerError(f"It did not fit the schema: {one_line(str(err), max_chars=300)}.") from err
    except UnicodeEncodeError as err:  # A lone surrogate where a word of the vocabulary belongs.
        raise UnusableAnswerError("It did not fit the schema: a text is not valid Unicode.") from err


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("A key stands twice.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON.")
