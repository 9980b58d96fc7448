"""The message into which a cut fell: marked, and without what cannot be told to be whole.

Of a text the beginning stays. Half of a tool's arguments or result would pass for all of it, so that is left out: the
tool's own span may tell it, else it is a gap.
"""

from __future__ import annotations

from dataclasses import replace

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
    return replace(message, gaps=tuple(sorted({*message.gaps, GapKind.TRUNCATED})))
