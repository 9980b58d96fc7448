"""Logfire's own instrumentation of providers, in its first version: request and response as JSON.

`request_data` is what the provider was sent, `response_data` what is left of its answer; a streamed answer comes as a
record of its own, with the pieces combined. Its spans of other SDKs hold `events`, the messages as the bodies of the
events of earlier semantic conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields
from collector.messages.values import as_int, decode
from collector.operation import Operation, OperationKind, Usage
from collector.telemetry.records import Span, StatusCode

NAME = "logfire"
MARKERS = (b"request_data",)


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    if span.scope.name == "logfire.openai_agents":
        return False  # `logfire_agents`
    return "request_data" in attributes and ("logfire.msg" in attributes or span.scope.name.startswith("logfire"))


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    frame = span_frame(span, dialect=NAME, kind=OperationKind.MODEL_CALL)
    returned = decode(attributes.get("response_data"))
    fields = model_call_fields(attributes.get("request_data"), _answer(returned), decoder)
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields["gaps"]}))
    return replace(frame, **fields, usage=_usage(returned), is_internal=_is_begun_stream(span))


def _is_begun_stream(span: Span) -> bool:
    """A call whose answer is streamed ends with the first piece; a record of its own tells all at the end."""
    attributes = span.attributes
    told = "response_data" in attributes or "gen_ai.output.messages" in attributes
    is_span = attributes.get("logfire.span_type") == "span" and span.scope.name.startswith("logfire")
    return is_span and not told and span.status is not StatusCode.ERROR


def _answer(returned: Any) -> Any:
    text = returned.get("combined_chunk_content") if isinstance(returned, Mapping) else None
    return [{"role": "assistant", "content": text}] if isinstance(text, str) and text else returned


def _usage(returned: Any) -> Usage | None:
    used = returned.get("usage") if isinstance(returned, Mapping) else None
    if not isinstance(used, Mapping):
        return None
    sent = as_int(used.get("prompt_tokens") or used.get("input_tokens"))
    given = as_int(used.get("completion_tokens") or used.get("output_tokens"))
    return Usage(sent, given) if sent is not None or given is not None else None
