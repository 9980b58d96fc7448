"""The nearest value that JSON has, for whatever a conversation or a judge can put into a verdict.

Text that is no valid Unicode, numbers that JSON does not have, nesting without end: none of it may stop a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_MAX_DEPTH = 32
_INT64 = 2**63


def plain_json(value: object, *, depth: int = 0) -> object:
    if depth > _MAX_DEPTH:
        return "[nested too deep]"
    match value:
        case None | bool():
            return value
        case str():
            return _valid_text(value)
        case int():
            return value if -_INT64 <= value < 2 * _INT64 else str(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {_valid_text(str(key)): plain_json(item, depth=depth + 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain_json(item, depth=depth + 1) for item in value]
        case _:
            return placeholder(value)


def _valid_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def placeholder(value: object) -> str:
    """Never the value's own text: it may hold anything."""
    return f"[{type(value).__name__}]"
