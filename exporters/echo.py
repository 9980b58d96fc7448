"""What a server's error message repeats of what it was sent, taken out, so that no content gets into logs.

Masked is every part of the message that also stands in the prose that was sent: any text with white space in it, and
any long one. Ids and names of fields stay, since they are what helps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

_WINDOW: Final = 8
_LONG: Final = 80
_MASK: Final = "…"


class Echo:
    def __init__(self, sent: object, *, secrets: Collection[str] = ()) -> None:
        """`sent` is what was sent, before it became JSON; `secrets` are masked wherever they begin or end."""
        self._texts = [
            *_prose(sent),
            *secrets,
            *(part for secret in secrets for part in secret.split() if len(part) > 3),
        ]

    def masked(self, message: str) -> str:
        marked = [False] * len(message)
        for size in {min(_WINDOW, len(text)) for text in self._texts if text}:
            texts = [text for text in self._texts if len(text) >= size]
            for start in range(len(message) - size + 1):
                part = message[start : start + size]
                if any(part in text for text in texts):
                    marked[start : start + size] = [True] * size
        return _joined(message, marked)


def _joined(message: str, marked: list[bool]) -> str:
    kept: list[str] = []
    for character, is_marked in zip(message, marked, strict=True):
        if not is_marked:
            kept.append(character)
        elif not kept or kept[-1] != _MASK:
            kept.append(_MASK)
    return "".join(kept)


def _prose(value: object, *, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > _LONG or len(value.split()) > 1:
            yield value
    elif depth < 16:
        if isinstance(value, dict):
            for item in value.values():
                yield from _prose(item, depth=depth + 1)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from _prose(item, depth=depth + 1)
