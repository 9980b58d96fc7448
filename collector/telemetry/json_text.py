r"""JSON text to plain values, with a second chance for what some JSON writers let through.

Whoever cuts a text in the middle of a character outside the basic plane leaves half of a surrogate pair, which writers
of several languages escape (`\ud83d`), and some write numbers that JSON does not have (NaN, Infinity). No parser of
ours takes them, and a whole message is worth more than that one value: each half becomes U+FFFD, each such number its
name as a text.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_STRING_OR_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*"|(?P<number>-?Infinity|NaN)\b', re.DOTALL)


def loads(text: bytes | str) -> Any:
    """Raises orjson.JSONDecodeError, a ValueError, of the text as it was given."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as err:
        failure = err
    whole = mended_json(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    if whole is None:
        raise failure
    try:
        return orjson.loads(whole)
    except orjson.JSONDecodeError:
        raise failure from None


def mended_json(text: bytes) -> bytes | None:
    """None where there is nothing of the kind to mend."""
    whole = text
    if b"\\ud" in text or b"\\uD" in text:
        whole = _ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], whole)
    if b"NaN" in text or b"Infinity" in text:
        whole = _STRING_OR_NUMBER.sub(lambda found: b'"' + found[0] + b'"' if found["number"] else found[0], whole)
    return None if whole == text else whole
