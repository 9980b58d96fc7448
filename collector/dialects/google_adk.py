"""Google ADK: what its own attributes say beside the semantic conventions, and all of it in the legacy format.

Format 2 is the semantic conventions (`otel_genai`); what is ADK's own there is how the work of other agents is retold
after a transfer, and a span "(merged tools)" after parallel calls that is no call. Format 1 has the request and
response of each `call_llm` as JSON, and tools' arguments and results under names of its own; with content off their
values are "{}".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.bodies import Body, read_request, read_response
from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import log_frame, span_frame
from collector.messages.payloads import tools_of
from collector.messages.retold import untold
from collector.messages.semconv import agent_of, semconv_fields
from collector.messages.values import as_int, as_str, object_or_text
from collector.model import Agent, GapKind
from collector.operation import Chain, Operation, OperationKind, Usage
from collector.telemetry.records import LogRecord, Span

NAME = "google_adk"
MARKERS = (b"gcp.vertex.agent", b"gen_ai.")
SCOPE = "gcp.vertex.agent"

_DETAILS = "gen_ai.client.inference.operation.details"
_MERGED = "(merged tools)"
_NOTHING = frozenset({"{}", "N/A", "", "<not specified>", "<not serializable>"})
_REQUEST, _RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
_ARGUMENTS, _RESULT = "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"


def sniffs_span(span: Span) -> bool:
    return span.scope.name == SCOPE or "gcp.vertex.agent.event_id" in span.attributes or _REQUEST in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    frame = span_frame(span, dialect=NAME, kind=_kind(span))
    if attributes.get("gen_ai.tool.name") == _MERGED:
        return replace(frame, is_internal=True)
    if frame.kind is OperationKind.TOOL:
        return replace(frame, **_tool(attributes))
    if _REQUEST in attributes or _RESPONSE in attributes:
        return replace(frame, **_legacy_call(attributes, decoder, frame.gaps))
    return replace(frame, **_told(attributes, decoder), agent=_agent(span))


def sniffs_log(record: LogRecord) -> bool:
    return record.scope.name == SCOPE and record.event_name == _DETAILS


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    body = record.body if isinstance(record.body, Mapping) else {}
    attributes = {**body, **record.attributes}
    fields = semconv_fields(attributes, decoder)
    return replace(log_frame(record, dialect=NAME), **{**fields, **_told(attributes, decoder)})


def _kind(span: Span) -> OperationKind:
    """Spans of the legacy format have no operation's name; their own is told apart by the scope."""
    attributes = span.attributes
    if _ARGUMENTS in attributes or _RESULT in attributes:
        return OperationKind.TOOL
    if _REQUEST in attributes or _RESPONSE in attributes:
        return OperationKind.MODEL_CALL
    if span.name.startswith("agent_run") and "gen_ai.operation.name" not in attributes:
        return OperationKind.AGENT
    return OperationKind.WORKFLOW if span.name == "invocation" and not attributes else OperationKind.OTHER


def _agent(span: Span) -> Agent | None:
    name = span.name.removeprefix("agent_run").strip(" []") if span.name.startswith("agent_run") else ""
    return agent_of(span.attributes) or (Agent(name=name) if name else None)


def _told(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    """Only where it differs from what the semantic conventions say of the same attributes."""
    decoded = decoder.read(attributes.get("gen_ai.input.messages"))
    own = untold(decoded.messages)
    return {"input": decoder.chain_of(own)} if own is not None else {}


def _untold(decoded: Decoded, decoder: MessageDecoder) -> Chain | None:
    own = untold(decoded.messages)
    return decoder.chain_of(own) if own is not None else decoded.chain


def _legacy_call(attributes: Mapping[str, Any], decoder: MessageDecoder, gaps: tuple[GapKind, ...]) -> dict[str, Any]:
    request = read_request(_present(attributes.get(_REQUEST)), decoder)
    response = read_response(_present(attributes.get(_RESPONSE)), decoder)
    return {
        "input": _untold(request.decoded, decoder),
        "output": response.messages,
        "system_instructions": request.system,
        "tool_definitions": definitions_of(tools_of(request.rest)),
        "model": as_str(request.rest.get("model")),
        "usage": _usage(response),
        "gaps": tuple(sorted({*gaps, *request.decoded.gaps, *response.decoded.gaps})),
    }


def _usage(response: Body) -> Usage | None:
    found = response.rest.get("usage_metadata")
    if not isinstance(found, Mapping):
        return None
    return Usage(as_int(found.get("prompt_token_count")), as_int(found.get("candidates_token_count")))


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    arguments, result = _present(attributes.get(_ARGUMENTS)), _present(attributes.get(_RESULT))
    if arguments is not None:
        fields |= {"arguments": object_or_text(arguments), "has_arguments": True}
    if result is not None:
        fields |= {"result": object_or_text(result), "has_result": True}
    return fields


def _present(value: object) -> object:
    """None for what stands where content was left out; a tool without arguments looks the same."""
    return None if isinstance(value, str) and value.strip() in _NOTHING else value
