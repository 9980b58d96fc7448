"""Pipecat: a conversation is one trace; turns in it hold speech recognition, model call and speech synthesis.

The model call has its messages as `input`, the text it gave as `output`; the calls of tools show in the next input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.bodies import read_request
from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.turn_records import answered
from collector.messages.values import as_str, decode, first
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "pipecat"
MARKERS = (b"gen_ai.", b"turn.number")

_SCOPE = "pipecat"


def sniffs_span(span: Span) -> bool:
    return span.scope.name.startswith(_SCOPE) or "turn.was_interrupted" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    if "turn.number" in attributes and span.name == "turn":
        return span_frame(span, dialect=NAME, kind=OperationKind.AGENT)
    if as_str(attributes.get("gen_ai.operation.name")) not in {"chat", "llm"} and span.name != "llm":
        return span_frame(span, dialect=NAME)
    frame = span_frame(span, dialect=NAME, kind=OperationKind.MODEL_CALL)
    sent = read_request(first(attributes, "input", "messages"), decoder)
    return replace(
        frame,
        input=sent.decoded.chain,
        output=answered(attributes.get("output")),
        system_instructions=sent.system or as_str(first(attributes, "system", "gen_ai.system_instructions")),
        tool_definitions=definitions_of(decode(attributes.get("tools"))),
        gaps=tuple(sorted({*frame.gaps, *sent.decoded.gaps})),
    )
