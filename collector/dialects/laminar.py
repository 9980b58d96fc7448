"""Laminar: spans with a type, input and output as JSON; model calls also have OpenLLMetry's flattened messages.

Those are the better source where they are (`openllmetry`, `otel_genai`); what is read here is what functions were
given and gave back.
"""

from __future__ import annotations

from dataclasses import replace

from collector.messages.decoder import MessageDecoder
from collector.messages.flat import has_prefix
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.values import as_str, first
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span

NAME = "laminar"
MARKERS = (b"lmnr.",)

_KINDS = {
    "LLM": OperationKind.MODEL_CALL,
    "CACHED": OperationKind.MODEL_CALL,
    "TOOL": OperationKind.TOOL,
    "DEFAULT": OperationKind.WORKFLOW,
}
_INTERNAL = {"EVALUATION", "EVALUATOR", "HUMAN_EVALUATOR", "EXECUTOR"}
_BETTER = ("gen_ai.prompt.", "gen_ai.input.messages", "gen_ai.completion.")


def sniffs_span(span: Span) -> bool:
    return "lmnr.span.type" in span.attributes or "lmnr.span.input" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = str(attributes.get("lmnr.span.type") or "DEFAULT").upper()
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = replace(span_frame(span, dialect=NAME, kind=kind), is_internal=name in _INTERNAL)
    given, returned = attributes.get("lmnr.span.input"), attributes.get("lmnr.span.output")
    match kind:
        case OperationKind.MODEL_CALL if not any(has_prefix(attributes, prefix) for prefix in _BETTER):
            fields = model_call_fields(given, returned, decoder)
            fields["model"] = as_str(first(attributes, "gen_ai.response.model", "gen_ai.request.model"))
        case OperationKind.TOOL:
            fields = tool_fields(as_str(attributes.get("gen_ai.tool.name")) or span.name, given, returned)
        case OperationKind.WORKFLOW:
            fields = wrapper_fields(given, returned, decoder)
        case _:
            fields = {}
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    return replace(frame, **fields)
