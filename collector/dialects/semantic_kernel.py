"""Semantic Kernel: messages as Python log records whose body is JSON text, and agents with messages of its own shape.

The records are the per-message events of the semantic conventions, the name in an attribute (`otel_genai_events`); its
own is `gen_ai.prompt`, the whole history as one record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.bodies import read_request
from collector.messages.decoder import MessageDecoder
from collector.messages.frame import log_frame, span_frame
from collector.messages.values import decode
from collector.operation import Operation, OperationKind
from collector.telemetry.records import LogRecord, Span

NAME = "semantic_kernel"
MARKERS = (b"gen_ai.",)

_PROMPT = "gen_ai.prompt"
_CALLS = ("chat.completions ", "chat.streaming_completions ", "text.completions ", "text.streaming_completions ")


def sniffs_span(span: Span) -> bool:
    return span.scope.name.startswith("semantic_kernel") or "sk.available_functions" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    """`otel_genai` says the rest; older releases name the operation `chat.completions`."""
    attributes: Mapping[str, Any] = span.attributes
    is_call = span.name.startswith(_CALLS) or str(attributes.get("gen_ai.operation.name")).startswith(_CALLS[0].strip())
    frame = span_frame(span, dialect=NAME, kind=OperationKind.MODEL_CALL if is_call else OperationKind.OTHER)
    sent = read_request(attributes.get("gen_ai.input.messages"), decoder).decoded
    return replace(frame, input=sent.chain)


def sniffs_log(record: LogRecord) -> bool:
    return record.event_name == _PROMPT


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    body = decode(record.body)
    sent = read_request(body, decoder).decoded if isinstance(body, (Mapping, list)) else decoder.read(body)
    frame = log_frame(record, dialect=NAME, kind=OperationKind.MODEL_CALL)
    return replace(frame, input=sent.chain, gaps=tuple(sorted({*frame.gaps, *sent.gaps})))
