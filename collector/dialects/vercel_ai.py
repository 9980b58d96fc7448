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
    told = tuple(message for whole in said for message in _in_order(whole, has_finished=has_finished))
    return replace(span_frame(span, dialect=NAME, kind=kind_of(span.attributes)), output=told)


def _in_order(message: Message, *, has_finished: bool) -> tuple[Message, ...]:
    """Calls, results, text; as it is where a call is still to be answered. One that failed has no result."""
    calls = tuple(part for part in message.parts if isinstance(part, ToolCallPart))
    results = tuple(part for part in message.parts if isinstance(part, ToolResultPart))
    texts = tuple(part for part in message.parts if isinstance(part, TextPart))
    answered = {part.call_id for part in results}
    is_open = not has_finished and any(call.call_id not in answered for call in calls)
    if message.role is not Role.ASSISTANT or not calls or is_open:
        return (message,)
    rest = tuple(part for part in message.parts if not isinstance(part, (TextPart, ToolCallPart, ToolResultPart)))
    found = [replace(message, parts=(*rest, *calls))]
    found += [Message(role=Role.TOOL, parts=results)] if results else []
    found += [replace(message, parts=texts)] if texts else []
    return tuple(with_digest(part) for part in found)
