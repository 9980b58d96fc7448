"""Views are small: texts and lists in them are cut, visibly, so that a result stays below two kilobytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

REASON_BYTES = 900
LIST_BYTES = 350
ITEM_BYTES = 120
_CUT = "…"


def short(text: str, *, max_bytes: int = REASON_BYTES) -> str:
    """At most so many bytes of UTF-8 as they stand in JSON; what cannot be encoded is escaped first."""
    text = text.encode("utf-8", "backslashreplace").decode()
    if _size(text) <= max_bytes:
        return text
    low, high = 0, min(len(text), max_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(text[:middle] + _CUT) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return text[:low] + _CUT


def first_of(items: Iterable[object], *, max_bytes: int = LIST_BYTES) -> Sequence[object]:
    """As many of the items as fit, and how many more there are."""
    found: list[object] = []
    left = max_bytes
    listed = list(items)
    for number, item in enumerate(listed):
        left -= _size(item) + 1
        if left < 0:
            return [*found, f"{_CUT} {len(listed) - number} more"]
        found.append(item)
    return found


def _size(value: object) -> int:
    return len(orjson.dumps(value))
