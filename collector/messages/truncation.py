"""JSON text that was cut at its end: what is there is kept, what is gone is a gap.

`mend` closes the string and the brackets that the cut left open. It never invents a value: a key without one is
dropped.
"""

from __future__ import annotations

from typing import Any

import orjson

from collector.messages.values import decode

MAX_BYTES = 8 * 1024 * 1024
_CLOSERS = {"{": "}", "[": "]"}


def decode_or_mend(value: object) -> tuple[Any, bool]:
    """What `decode` gives, and whether it had to be mended for that."""
    found = decode(value)
    mended = mend(found.lstrip()) if isinstance(found, str) and found.lstrip()[:1] in _CLOSERS else None
    return (found, False) if mended is None else (mended, True)


def mend(text: str) -> Any:
    """The object or array that the cut text began; None where nothing of it can be read."""
    if len(text) > MAX_BYTES or text[:1] not in _CLOSERS:
        return None
    stack, in_string, cut = _scan(text)
    if not stack:
        return None
    closing = "".join(_CLOSERS[opener] for opener in reversed(stack))
    for candidate in _candidates(text, cut=cut, in_string=in_string):
        try:
            return orjson.loads(candidate + closing)
        except ValueError:
            continue
    return None


def _scan(text: str) -> tuple[list[str], bool, int]:
    """Open brackets at the end, whether a string is open, and where that string began."""
    stack: list[str] = []
    in_string = escaped = False
    began = 0
    for index, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string, began = True, index
        elif char in _CLOSERS:
            stack.append(char)
        elif char in "}]":
            if not stack:
                return [], False, 0
            stack.pop()
    return stack, in_string, began


def _candidates(text: str, *, cut: int, in_string: bool) -> list[str]:
    """Ways to end the text, the one that keeps most first."""
    if not in_string:
        bare = text.rstrip()
        return [bare, bare.rstrip(",:"), *_without_last(bare)]
    whole = [text[: len(text) - back] + '"' for back in range(7)]  # an escape such as \u00e4 may be cut in its middle
    return [*whole, *_without_last(text[:cut])]


def _without_last(text: str) -> list[str]:
    """Without the last member: a key whose value is missing, or a literal that was cut."""
    bare = text.rstrip().rstrip(",")
    if bare.endswith(":"):
        bare = bare[:-1].rstrip()
        start = bare.rfind('"', 0, len(bare) - 1)
        bare = bare[:start] if start >= 0 else bare
    else:
        comma = bare.rfind(",")
        return [bare, bare[:comma] if comma >= 0 else bare]
    return [bare.rstrip().rstrip(",")]
