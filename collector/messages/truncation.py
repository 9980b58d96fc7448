"""JSON text that was cut at its end: what is there is kept, what is gone is a gap.

`mend` closes the string and the brackets that the cut left open. It never invents a value: a key without one is
dropped, and so is a number or a literal at the cut. Linear in the text; bounded in length and depth.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Any

from collector.messages.values import decode
from collector.telemetry.json_text import loads

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 256
_CLOSERS = {"{": "}", "[": "]"}
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\],]', re.DOTALL)
_ENDS = '"}]{['
_STEPS_BACK = 8
_MIN_LIMIT = 32
_ESCAPE_LENGTH = 7
"""An escape such as \\u00e4 may be cut in its middle."""


def shows_a_limit(values: Iterable[object]) -> bool:
    """Whether the longest values of a span were cut to one length: a JSON text that does not end, and a plain text, of
    which nothing else would show it.
    """
    texts = [value for value in values if type(value) is str]
    longest = max(map(len, texts), default=0)
    if longest < _MIN_LIMIT:
        return False
    cut = [text for text in texts if len(text) == longest]
    unended = sum(text[0] in _CLOSERS and text.rstrip()[-1:] != _CLOSERS[text[0]] for text in cut)
    return 0 < unended < sum(text[0] not in _CLOSERS for text in cut) + unended


def decode_or_mend(value: object) -> tuple[Any, bool]:
    """What `decode` gives, and whether it had to be mended for that."""
    found = decode(value)
    mended = mend(found.lstrip()) if isinstance(found, str) and found.lstrip()[:1] in _CLOSERS else None
    return (found, False) if mended is None else (mended, True)


def mend(text: str) -> Any:
    """The object or array that the cut text began; None where nothing of it can be read."""
    if len(text) > MAX_BYTES or text[:1] not in _CLOSERS:
        return None
    for candidate in _candidates(text):
        try:
            return loads(candidate) or None
        except ValueError:
            continue
    return None


def _candidates(text: str) -> list[str]:
    """Ways to end the text, the one that keeps most first; none where its brackets do not fit or are all closed."""
    open_brackets = ""
    is_open_string = False
    ends: deque[tuple[int, str]] = deque(maxlen=_STEPS_BACK)
    for token in _TOKEN.finditer(text):
        sign = token[0]
        is_open_string = sign[0] == '"' and not token[1]
        if sign in _CLOSERS:
            open_brackets = _CLOSERS[sign] + open_brackets
            if len(open_brackets) > MAX_DEPTH:
                return []
            ends.append((token.end(), open_brackets))
        elif sign in ("}", "]"):
            if open_brackets[:1] != sign:
                return []
            open_brackets = open_brackets[1:]
        elif sign == ",":
            ends.append((token.start(), open_brackets))
    if not open_brackets:
        return []
    if is_open_string:
        found = [text[: len(text) - back] + '"' + open_brackets for back in range(_ESCAPE_LENGTH)]
    else:
        bare = text.rstrip()
        found = [bare + open_brackets] if bare[-1] in _ENDS else []
    return [*found, *(text[:end] + closing for end, closing in reversed(ends))]
