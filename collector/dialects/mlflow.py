"""MLflow tracing: every span has a type, its inputs and its outputs, all of them JSON, single texts as well.

What the inputs and outputs are depends on the library that was traced (`mlflow.message.format`): the request and the
response of OpenAI, Anthropic, Gemini or Bedrock, messages of LangChain, the arguments of a function. They are read by
their shape.
With `MLFLOW_ENABLE_OTEL_GENAI_SEMCONV` there is nothing of this, and `otel_genai` reads the span.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, tool_fields, wrapper_fields
from collector.messages.values import as_int, as_str, decode
from collector.model import Agent
from collector.operation import Operation, OperationKind, Usage
from collector.telemetry.records import Span

NAME = "mlflow"
MARKERS = (b"mlflow.",)

_KINDS = {
    "LLM": OperationKind.MODEL_CALL,
    "CHAT_MODEL": OperationKind.MODEL_CALL,
    "AGENT": OperationKind.AGENT,
    "CHAIN": OperationKind.WORKFLOW,
    "WORKFLOW": OperationKind.WORKFLOW,
    "TASK": OperationKind.WORKFLOW,
    "UNKNOWN": OperationKind.WORKFLOW,
    "TOOL": OperationKind.TOOL,
    "RETRIEVER": OperationKind.RETRIEVAL,
}
_INTERNAL = {"EMBEDDING", "RERANKER", "EVALUATOR", "GUARDRAIL"}
_SIGNS = ("mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.traceRequestId")
_SCORER = ("mlflow.trace.sourceScorer", "mlflow.traceTag.mlflow.trace.sourceScorer")
"""On the root of a trace that a scorer made: all of it is a judge's work and no conversation."""
_NOT_AN_ANSWER = {"output_type"}
"""What the tracer of the OpenAI Agents SDK records as an agent's output."""


def sniffs_span(span: Span) -> bool:
    return any(key in span.attributes for key in (*_SIGNS, *_SCORER))


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = (_text(attributes, "mlflow.spanType") or "UNKNOWN").upper()
    given, returned = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    handoff = _handoff(given, returned)
    kind = OperationKind.HANDOFF if handoff else _KINDS.get(name, OperationKind.OTHER)
    frame = replace(
        span_frame(span, dialect=NAME, kind=kind),
        agent=_agent(span, kind),
        is_internal=name in _INTERNAL or any(key in attributes for key in _SCORER),
        model=_text(attributes, "mlflow.llm.model") or _text(attributes, "model"),
        provider=_text(attributes, "mlflow.llm.provider"),
        usage=_usage(attributes),
    )
    match kind:
        case OperationKind.HANDOFF:
            return replace(frame, from_agent=handoff[0], to_agent=handoff[1]) if handoff else frame
        case OperationKind.MODEL_CALL:
            return _upon(frame, _model_call(attributes, model_call_fields(given, returned, decoder)))
        case OperationKind.TOOL:
            return _upon(frame, tool_fields(_tool_name(span), given, returned))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            return _upon(frame, wrapper_fields(given, _answer(returned), decoder))
        case _:
            return frame


def _model_call(attributes: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    fields["tool_definitions"] = (
        definitions_of(attributes.get("mlflow.chat.tools"))
        or fields["tool_definitions"]
        or definitions_of(attributes.get("tools"))
    )
    fields["system_instructions"] = fields["system_instructions"] or _text(attributes, "instructions")
    previous = fields["previous_response_id"] or _text(attributes, "previous_response_id")
    return {**fields, "previous_response_id": previous, "input_is_delta": previous is not None}


def _upon(frame: Operation, fields: dict[str, Any]) -> Operation:
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    fields["is_error"] = frame.is_error or fields.get("is_error", False)
    fields["model"] = frame.model or fields.get("model")
    return replace(frame, **fields)


def _handoff(given: object, returned: object) -> tuple[str | None, str] | None:
    sent, told = decode(given), decode(returned)
    to_agent = as_str(told.get("to_agent")) if isinstance(told, Mapping) and set(told) == {"to_agent"} else None
    if to_agent is None or not isinstance(sent, Mapping):
        return None
    return as_str(sent.get("from_agent")), to_agent


def _answer(returned: object) -> object:
    found = decode(returned)
    return None if isinstance(found, Mapping) and set(found) <= _NOT_AN_ANSWER else returned


def _tool_name(span: Span) -> str:
    own = _text(span.attributes, "gen_ai.tool.name")
    return own or span.name.removeprefix("execute_tool ")


def _agent(span: Span, kind: OperationKind) -> Agent | None:
    return Agent(name=span.name) if kind is OperationKind.AGENT and span.name else None


def _text(attributes: Mapping[str, Any], key: str) -> str | None:
    return as_str(decode(attributes.get(key), levels=1))


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    found = decode(attributes.get("mlflow.chat.tokenUsage"))
    if not isinstance(found, Mapping):
        return None
    sent, given = as_int(found.get("input_tokens")), as_int(found.get("output_tokens"))
    return Usage(sent, given) if sent is not None or given is not None else None
