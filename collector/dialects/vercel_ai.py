"""The Vercel AI SDK from version 7: spans of the semantic conventions, which `otel_genai` reads, and one habit.

An answer is one message in which the text comes first, then the tool calls, then their results, all steps of a request
together. The text is what was said after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collector.messages.decoder import MessageDecoder
from collector.messages.digests import with_digest
from collector.messages.frame import span_frame
from collector.messages.semconv import kind_of
from collector.operation import Message, Operation, Role, TextPart, ToolCallPart, ToolResultPart
from collector.telemetry.records import Span

NAME = "vercel_ai"
MARKERS = (b"gen_ai",)
_SCOPE = "gen_ai"
_OUTPUT = "gen_ai.output.messages"


def sniffs_span(span: Span) -> bool:
    return span.scope.name == _SCOPE and _OUTPUT in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    said = decoder.read_messages(span.attributes.get(_OUTPUT))
    reasons = span.attributes.get("gen_ai.response.finish_reasons")
    has_finished = isinstance(reasons, Sequence) and "stop" in reasons
    told = _in_order(said, has_finished=has_finished)
    return replace(span_frame(span, dialect=NAME, kind=kind_of(span.attributes)), output=told)


def _in_order(said: tuple[Message, ...], *, has_finished: bool) -> tuple[Message, ...]:
    """Calls, results, text; as it is where a call is still to be answered. One that failed has no result."""
    parts = [part for message in said for part in message.parts]
    calls = tuple(part for part in parts if isinstance(part, ToolCallPart))
    results = tuple(part for part in parts if isinstance(part, ToolResultPart))
    texts = tuple(part for part in parts if isinstance(part, TextPart))
    answered = {part.call_id for part in results}
    if not calls or not (has_finished or all(call.call_id in answered for call in calls)):
        return said
    rest = tuple(part for part in parts if not isinstance(part, (TextPart, ToolCallPart, ToolResultPart)))
    found = [replace(said[0], parts=(*rest, *calls))]
    found += [Message(role=Role.TOOL, parts=results)] if results else []
    found += [replace(said[0], parts=texts)] if texts else []
    return tuple(with_digest(part) for part in found)
