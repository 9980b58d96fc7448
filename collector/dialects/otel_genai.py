"""The GenAI semantic conventions as they are now: spans, and the event `gen_ai.client.inference.operation.details`.

Content sits on the span, on the event, or on both; structured or as JSON text. Agents, workflows, tools, retrieval and
handoffs are told by `gen_ai.operation.name`. The per-message events of earlier versions are `otel_genai_events`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.frozen import altered
from collector.messages.decoder import MessageDecoder
from collector.messages.frame import log_frame, span_frame
from collector.messages.semconv import semconv_fields
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Span

NAME = "otel_genai"
MARKERS = (b"gen_ai.",)
DETAILS = "gen_ai.client.inference.operation.details"

_SIGNS = (
    "gen_ai.operation.name",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.provider.name",
    "gen_ai.system",
    "gen_ai.tool.name",
)


def sniffs_span(span: Span) -> bool:
    return any(key in span.attributes for key in _SIGNS) or any(event.name == DETAILS for event in span.events)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    for event in span.events:
        if event.name == DETAILS:
            attributes = {**event.attributes, **attributes}
    return _upon(span_frame(span, dialect=NAME), attributes, decoder)


def sniffs_log(record: LogRecord) -> bool:
    return record.event_name == DETAILS


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    body = record.body if isinstance(record.body, Mapping) else {}
    return _upon(log_frame(record, dialect=NAME), {**body, **record.attributes}, decoder)


def _upon(frame: Operation, attributes: Mapping[str, Any], decoder: MessageDecoder) -> Operation:
    fields = semconv_fields(attributes, decoder)
    if frame.gaps:
        fields["gaps"] = tuple(sorted({*frame.gaps, *fields["gaps"]}))
    error = attributes.get("error.type")
    if isinstance(error, str) and error:
        fields |= {"is_error": True, "error": frame.error or error[:512]}
    return altered(frame, **fields)
