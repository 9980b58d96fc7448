"""OpenInference: every span has `openinference.span.kind`; messages are flattened attributes, wrappers have input
and output.

`input.value` and `output.value` of model calls are the provider's request and response. They are the fallback where the
flattened messages are missing or hollow (lists of content parts, attributes dropped by a limit).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.entities import call_arguments, call_result, input_items, is_marker, output_items
from collector.messages.flat import unflatten
from collector.messages.frame import span_frame
from collector.messages.payloads import request_items, response_items, system_of, tools_of
from collector.messages.reprs import is_address, is_printed_object
from collector.messages.values import as_int, as_str, decode, decode_container, first
from collector.model import Agent
from collector.operation import Operation, OperationKind, Role, ToolCallPart, ToolResultPart, Usage
from collector.telemetry.records import Span

NAME = "openinference"
MARKERS = (b"openinference.span.kind", b"session.id")

_KINDS = {
    "LLM": OperationKind.MODEL_CALL,
    "AGENT": OperationKind.AGENT,
    "CHAIN": OperationKind.WORKFLOW,
    "TOOL": OperationKind.TOOL,
    "RETRIEVER": OperationKind.RETRIEVAL,
    "EMBEDDING": OperationKind.MODEL_CALL,
}
_SILENT = ("openinference.instrumentation.openai", "openinference.instrumentation.google_genai")
"""Scopes that record a call without arguments without the attribute for them."""
_PROVIDERS_RANK = 59
"""Of the id that a provider gave a conversation it keeps; what the application calls it is surer."""
_INTERNAL = {"EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"}


def sniffs_span(span: Span) -> bool:
    return "openinference.span.kind" in span.attributes


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = str(attributes.get("openinference.span.kind")).upper()
    kind = _KINDS.get(name, OperationKind.OTHER)
    frame = replace(
        span_frame(span, dialect=NAME, kind=kind),
        agent=_agent(attributes),
        is_internal=name in _INTERNAL,
        usage=_usage(attributes),
        model=as_str(first(attributes, "llm.response.model_name", "llm.model_name", "llm.request.model_name")),
        provider=as_str(first(attributes, "llm.provider", "llm.system")),
    )
    match kind:
        case OperationKind.TOOL:
            return replace(frame, **(_handoff(span) or _tool(span)))
        case OperationKind.MODEL_CALL:
            return _call(replace(frame, **_model_call(span, frame, decoder)))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            return replace(frame, **_wrapper(attributes, decoder))
        case _:
            return frame


def _call(operation: Operation) -> Operation:
    """An LLM span without messages, model and usage asked no model; some clients' other requests have that kind. Nor
    did one that gives back just what it was given: it made the request ready.
    """
    sent = operation.input.messages() if operation.input is not None else ()
    if sent and [message.digest for message in operation.output] == [message.digest for message in sent]:
        return replace(operation, kind=OperationKind.OTHER, input=None, output=())
    said = operation.input is not None or operation.output
    if said or operation.model or operation.usage is not None or operation.is_error:
        return operation
    return replace(operation, kind=OperationKind.OTHER)


def _handoff(span: Span) -> dict[str, Any] | None:
    """The OpenAI Agents SDK's handoff: a tool span without a tool, from its input to its output."""
    sender, receiver = span.attributes.get("input.value"), span.attributes.get("output.value")
    if "tool.name" in span.attributes or not span.name.startswith("handoff to ") or not isinstance(receiver, str):
        return None
    return {"kind": OperationKind.HANDOFF, "from_agent": as_str(sender), "to_agent": receiver}


def _model_call(span: Span, frame: Operation, decoder: MessageDecoder) -> dict[str, Any]:
    attributes = span.attributes
    is_silent = span.scope.name.startswith(_SILENT)
    sent = _messages(attributes, "llm.input_messages", decoder, Role.USER, is_silent=is_silent)
    given = _messages(attributes, "llm.output_messages", decoder, Role.ASSISTANT, is_silent=is_silent)
    request = response = None
    # A limit on attributes drops the latest messages; objects of some SDKs are left out of the flattened list.
    # Earlier releases flatten a tool's result into what the user said.
    # Several results in one message of the provider's leave one, or lose their ids.
    unanswered = _unanswered(sent)
    lacks = span.dropped_attributes or _has_holes(attributes, "llm.input_messages") or unanswered
    if _is_hollow(sent) or lacks:
        request = decode_container(attributes.get("input.value"))
        whole = decoder.read(request_items(request), default=Role.USER)
        sent = whole if whole.chain and _unanswered(whole) < unanswered else _fuller(sent, whole)
    body = attributes.get("output.value")
    if _is_hollow(given) or (isinstance(body, str) and '"id"' in body[:4096]):
        response = decode_container(body)
    if _is_hollow(given):
        given = _fuller(given, decoder.read(response_items(response) or _text(body, response), default=Role.ASSISTANT))
    parameters = decode(attributes.get("llm.invocation_parameters"))
    parameters = parameters if isinstance(parameters, Mapping) else {}
    identity = response.get("id") if isinstance(response, Mapping) else None
    conversation = _conversation(parameters)
    named = {"conversation_id": conversation, "conversation_id_rank": _PROVIDERS_RANK} if conversation else {}
    return {
        **named,
        "input": sent.chain,
        "output": given.messages,
        "gaps": tuple(sorted({*frame.gaps, *sent.gaps, *given.gaps})),
        "system_instructions": system_of(parameters) if parameters else None,
        "tool_definitions": definitions_of(unflatten(attributes, "llm.tools"))
        or definitions_of(tools_of(request) or parameters.get("tools")),
        "response_id": as_str(identity),
        "previous_response_id": as_str(parameters.get("previous_response_id")),
    }


def _messages(
    attributes: Mapping[str, Any], prefix: str, decoder: MessageDecoder, role: Role, *, is_silent: bool
) -> Decoded:
    items = unflatten(attributes, prefix)
    if not isinstance(items, list):
        return Decoded()
    return decoder.read_items(map(_with_no_arguments, items) if is_silent else items, default=role)


def _with_no_arguments(item: Any) -> Any:
    message = item.get("message") if isinstance(item, Mapping) else None
    asked = message.get("tool_calls") if isinstance(message, Mapping) else None
    for entry in asked if isinstance(asked, list) else ():
        call = entry.get("tool_call") if isinstance(entry, Mapping) else None
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, dict) and function.get("name"):
            function.setdefault("arguments", "{}")
    return item


def _conversation(parameters: Mapping[str, Any]) -> str | None:
    """The conversation that the provider keeps, where the application names it in its request."""
    named = parameters.get("conversation")
    return as_str(named.get("id") if isinstance(named, Mapping) else named)


def _has_holes(attributes: Mapping[str, Any], prefix: str) -> bool:
    indices = {key.split(".", 3)[2] for key in attributes if key.startswith(f"{prefix}.")}
    return any(str(index) not in indices for index in range(len(indices)))


def _is_hollow(decoded: Decoded) -> bool:
    return decoded.chain is None or any(not message.parts for message in decoded.messages)


def _unanswered(decoded: Decoded) -> int:
    """Calls whose results are not in the list, though it goes on after them."""
    found = 0
    given: list[str | None] = []
    for message in reversed(decoded.messages):
        calls = [part.call_id for part in message.parts if isinstance(part, ToolCallPart)]
        if calls and (given or message is not decoded.messages[-1]):
            told = sum(call_id in given for call_id in calls) if all(calls) else min(len(given), len(calls))
            found += len(calls) - told
        if message.role is Role.ASSISTANT:
            given = []
        given += [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
    return found


def _fuller(one: Decoded, other: Decoded) -> Decoded:
    """The one with more messages that say something."""
    weight = sum(bool(message.parts) for message in one.messages)
    return other if sum(bool(message.parts) for message in other.messages) > weight else one


def _text(value: object, found: object) -> list[Any] | None:
    """A bare text; not JSON whose shape is not known, nor a stream that was recorded before it was read."""
    if found is not None or not isinstance(value, str) or not value or is_address(value):
        return None
    return [{"role": "assistant", "content": value}]


def _wrapper(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    given = _plain_text(attributes, "input", "user") or input_items(attributes.get("input.value"))
    sent = decoder.read(given or _tasks(attributes.get("crew_tasks")))
    value = _plain_text(attributes, "output", "assistant") or output_items(attributes.get("output.value"))
    return {"input": sent.chain, "output": decoder.read_messages(value)}


def _tasks(value: object) -> list[Any] | None:
    """What a crew is to do, where nothing else says what was asked."""
    listed = decode(value)
    tasks = [task for task in listed if isinstance(task, Mapping)] if isinstance(listed, list) else []
    texts = [text for task in tasks if (text := as_str(task.get("description")))]
    return [{"role": "user", "content": "\n\n".join(texts)}] if texts else None


def _plain_text(attributes: Mapping[str, Any], side: str, role: str) -> list[Any] | None:
    text = attributes.get(f"{side}.value")
    if attributes.get(f"{side}.mime_type") != "text/plain" or not isinstance(text, str) or not text:
        return None
    if decode_container(text) is not None or is_printed_object(text) or is_marker(text):
        return None  # a framework's state, not somebody's words
    return [{"role": role, "content": text}]


def _tool(span: Span) -> dict[str, Any]:
    attributes = span.attributes
    name = as_str(attributes.get("tool.name")) or span.name.removesuffix(".__call__")
    if name == "finish" and span.scope.name.endswith(".dspy"):
        return {"kind": OperationKind.OTHER}  # how DSPy's ReAct ends its loop; the agent has no such tool
    fields: dict[str, Any] = {
        "tool_name": name,
        "call_id": as_str(first(attributes, "tool_call.id", "tool.id", "tool_call_id")),
    }
    if "input.value" in attributes:
        fields |= {"arguments": call_arguments(attributes["input.value"]), "has_arguments": True}
    if "output.value" in attributes:
        fields |= {"result": call_result(attributes["output.value"]), "has_result": True}
    return fields


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(first(attributes, "agent.name", "graph.node.name", "graph.node.id"))
    return Agent(name=name) if name else None


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    sent = as_int(attributes.get("llm.token_count.prompt"))
    given = as_int(attributes.get("llm.token_count.completion"))
    return Usage(sent, given) if sent is not None or given is not None else None
