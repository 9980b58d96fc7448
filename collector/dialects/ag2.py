"""AG2: the semantic conventions in OpenAI's message shape, and spans of its own for usage, envelopes and channels.

Usage comes once more on spans of its own, which the registry leaves out. A tool's result may be cut.
"""

from __future__ import annotations

from dataclasses import replace

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.model import GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "ag2"
MARKERS = (b"ag2.",)

_KINDS = {
    "agent": OperationKind.AGENT,
    "llm": OperationKind.MODEL_CALL,
    "tool": OperationKind.TOOL,
}
_INTERNAL = {"envelope", "channel", "human_input"}


def sniffs_span(span: Span) -> bool:
    return "ag2.span.type" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:  # noqa: ARG001  # every dialect's signature
    name = span.attributes.get("ag2.span.type")
    name = name if isinstance(name, str) else ""
    frame = span_frame(span, dialect=NAME, kind=_KINDS.get(name, OperationKind.OTHER))
    cut = span.attributes.get("ag2.tool.call.result.truncated") in (True, "true")
    gaps = {*frame.gaps, *([GapKind.TRUNCATED] if cut else [])}
    return replace(frame, is_internal=name in _INTERNAL, gaps=tuple(sorted(gaps)))
