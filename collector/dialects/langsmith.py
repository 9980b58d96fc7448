"""LangSmith's OpenTelemetry export: one span a run, its inputs and outputs whole as JSON.

They are `gen_ai.prompt` and `gen_ai.completion`; `langsmith.span.kind` is the run's type. `gen_ai.operation.name` is
there as well, but names prompts `chat` and retrievers `embeddings`, so what kind a span is, is told here.
`langsmith.trace.session_id` is the project; the conversation ("thread") is in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame, upon
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.semconv import usage_of
from collector.messages.values import as_int, as_str, decode, first
from collector.model import Agent
from collector.operation import Operation, OperationKind, Usage
from collector.telemetry.records import Span

NAME = "langsmith"
MARKERS = (b"langsmith.",)

_KINDS = {
    "llm": OperationKind.MODEL_CALL,
    "chain": OperationKind.WORKFLOW,
    "agent": OperationKind.AGENT,
    "tool": OperationKind.TOOL,
    "retriever": OperationKind.RETRIEVAL,
}
_INTERNAL = {"embedding", "prompt", "parser"}
_META = "langsmith.metadata."


def sniffs_span(span: Span) -> bool:
    return "langsmith.span.kind" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = str(attributes.get("langsmith.span.kind")).lower()
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = replace(
        span_frame(span, dialect=NAME, kind=kind),
        agent=_agent(attributes),
        is_internal=name in _INTERNAL,
        provider=as_str(first(attributes, f"{_META}ls_provider", "gen_ai.system")),
        usage=_usage(attributes),
    )
    given, returned = attributes.get("gen_ai.prompt"), attributes.get("gen_ai.completion")
    match kind:
        case OperationKind.MODEL_CALL:
            return upon(frame, _model_call(attributes, model_call_fields(given, returned, decoder)))
        case OperationKind.TOOL:
            return upon(frame, _tool(span, tool_fields(None, given, returned)))
        case OperationKind.WORKFLOW | OperationKind.AGENT:
            return upon(frame, wrapper_fields(given, returned, decoder))
        case _:
            return frame


def _model_call(attributes: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    model = first(attributes, "gen_ai.response.model", f"{_META}ls_model_name", "gen_ai.request.model")
    fields["model"] = as_str(model) or fields["model"]
    fields["response_id"] = as_str(attributes.get("gen_ai.response.id")) or fields["response_id"]
    fields["tool_definitions"] = definitions_of(attributes.get("gen_ai.tool.definitions")) or fields["tool_definitions"]
    return fields


def _tool(span: Span, fields: dict[str, Any]) -> dict[str, Any]:
    attributes = span.attributes
    fields["tool_name"] = as_str(first(attributes, "gen_ai.tool.name", "langsmith.trace.name")) or span.name
    own = as_str(first(attributes, "gen_ai.tool.call.id", f"{_META}tool_call_id"))
    fields["call_id"] = own or fields.get("call_id")
    return fields


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(first(attributes, "gen_ai.agent.name", f"{_META}lc_agent_name", f"{_META}agent_name"))
    return Agent(name=name) if name else None


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    found = decode(attributes.get(f"{_META}usage_metadata"))
    found = found if isinstance(found, Mapping) else {}
    sent, given = as_int(found.get("input_tokens")), as_int(found.get("output_tokens"))
    return usage_of(attributes) or (Usage(sent, given) if sent is not None or given is not None else None)
