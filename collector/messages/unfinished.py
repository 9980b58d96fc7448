"""The message into which a cut fell: marked, and without what cannot be told to be whole.

Of a text the beginning stays. Half of a tool's arguments or result would pass for all of it, so that is left out: the
tool's own span may tell it, else it is a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.digests import with_digest
from collector.model import GapKind
from collector.operation import Message, ToolCallPart, ToolResultPart


def unfinished(message: Message) -> Message:
    last = message.parts[-1] if message.parts else None
    match last:
        case ToolCallPart():
            message = with_digest(replace(message, parts=(*message.parts[:-1], replace(last, arguments=None))))
        case ToolResultPart():
            message = with_digest(replace(message, parts=(*message.parts[:-1], replace(last, result=None))))
        case _:
            pass
    return marked(message)


def marked(message: Message) -> Message:
    return replace(message, gaps=tuple(sorted({*message.gaps, GapKind.TRUNCATED})))


def without_untold(item: Any) -> tuple[Any, bool]:
    """The last item of a list that was cut, without a last part that was cut before it said what it is; and whether it
    had one. Where keys are sorted, a call's arguments come before its type and its name.
    """
    if not isinstance(item, Mapping):
        return item, False
    key = next((key for key in ("parts", "content") if isinstance(item.get(key), list) and item[key]), None)
    last = item[key][-1] if key is not None else None
    if key is None or not isinstance(last, Mapping) or not _is_untold(last, item[key][:-1]):
        return item, False
    return {**item, key: item[key][:-1]}, True


def _is_untold(last: Mapping[str, Any], others: list[Any]) -> bool:
    """Without a type, in a list whose parts have one, or with values that only a call or its result has."""
    if "type" in last:
        return False
    typed = bool(others) and all(isinstance(part, Mapping) and "type" in part for part in others)
    return typed or not {"arguments", "response"}.isdisjoint(last)
