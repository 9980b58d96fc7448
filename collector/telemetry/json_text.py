r"""JSON text to plain values, with a second chance for halves of surrogate pairs.

Whoever cuts a text in the middle of a character outside the basic plane leaves such a half, and JSON writers of several
languages escape it (`\ud83d`). No parser of ours takes it, and a whole message is worth more than that one character:
each half becomes U+FFFD.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def loads(text: bytes | str) -> Any:
    """Raises orjson.JSONDecodeError, a ValueError, of the text as it was given."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as err:
        failure = err
    whole = without_halves(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    if whole is None:
        raise failure
    try:
        return orjson.loads(whole)
    except orjson.JSONDecodeError:
        raise failure from None


def without_halves(text: bytes) -> bytes | None:
    """None where there are none."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return None
    whole = _ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], text)
    return None if whole == text else whole
