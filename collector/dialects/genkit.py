"""Genkit: every action has a type, its input and its output as JSON.

Models, tools, flows and agents are told by their subtype; helpers around them (`generate`, prompts) are structure only.
Content parts are of Genkit's own shape (`toolRequest`, `toolResponse`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.values import as_int, as_str, decode
from collector.model import Agent
from collector.operation import Operation, OperationKind, Usage
from collector.telemetry.records import Span

NAME = "genkit"
MARKERS = (b"genkit:",)

_KINDS = {
    "model": OperationKind.MODEL_CALL,
    "background-model": OperationKind.MODEL_CALL,
    "tool": OperationKind.TOOL,
    "tool.v2": OperationKind.TOOL,
    "flow": OperationKind.WORKFLOW,
    "agent": OperationKind.AGENT,
    "retriever": OperationKind.RETRIEVAL,
}
_INTERNAL = {"embedder", "evaluator", "reranker", "indexer"}


def sniffs_span(span: Span) -> bool:
    return "genkit:type" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    subtype = str(attributes.get("genkit:metadata:subtype") or attributes.get("genkit:type"))
    kind = _KINDS.get(subtype, OperationKind.OTHER)
    name = as_str(attributes.get("genkit:name"))
    given, returned = attributes.get("genkit:input"), attributes.get("genkit:output")
    failed = attributes.get("genkit:state") == "error"
    frame = span_frame(span, dialect=NAME, kind=kind)
    frame = replace(frame, is_internal=subtype in _INTERNAL, is_error=frame.is_error or failed)
    match kind:
        case OperationKind.MODEL_CALL:
            fields = model_call_fields(given, returned, decoder)
            fields |= {"model": name, "usage": _usage(returned)}
        case OperationKind.TOOL:
            fields = tool_fields(name or span.name, given, returned)
            fields["is_error"] = frame.is_error
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            fields = wrapper_fields(given, returned, decoder)
            fields["agent"] = Agent(name=name) if name else None
        case _:
            fields = {}
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    return replace(frame, **fields)


def _usage(returned: object) -> Usage | None:
    found: Any = decode(returned)
    used = found.get("usage") if isinstance(found, Mapping) else None
    if not isinstance(used, Mapping):
        return None
    return Usage(as_int(used.get("inputTokens")), as_int(used.get("outputTokens")))
