"""LiveKit Agents: a session is one trace; each turn of the agent a span in it, over model calls and tools.

Later releases follow the semantic conventions (`otel_genai`) and may send of a call's input only what is new beside
another span's (`lk.input.delta`); content keys of their own are `lk.*`, and `lk.pii.*` where they hold what people
said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.values import as_bool, as_str, decode, first, object_or_text
from collector.model import Agent
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "livekit"
MARKERS = (b"lk.",)

_SCOPE = "livekit"
_SIGNS = ("lk.chat_ctx", "lk.pii.chat_ctx", "lk.generation_id", "lk.function_tool.name", "lk.speech_id")
_KINDS = {
    "agent_session": OperationKind.WORKFLOW,
    "agent_turn": OperationKind.AGENT,
    "llm_node": OperationKind.MODEL_CALL,
    "llm_request": OperationKind.MODEL_CALL,
    "function_tool": OperationKind.TOOL,
}


def sniffs_span(span: Span) -> bool:
    return span.scope.name.startswith(_SCOPE) or any(key in span.attributes for key in _SIGNS)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: Mapping[str, Any] = span.attributes
    kind = _KINDS.get(span.name, OperationKind.OTHER)
    frame = replace(span_frame(span, dialect=NAME, kind=kind), agent=_agent(attributes))
    match kind:
        case OperationKind.TOOL:
            return replace(frame, **_tool(attributes, frame))
        case OperationKind.AGENT:
            sent = _said(attributes, "user_input", Role.USER, decoder)
            given = _said(attributes, "response.text", Role.ASSISTANT, decoder)
            system = as_str(_value(attributes, "instructions"))
            return replace(frame, input=sent.chain, output=given.messages, system_instructions=system)
        case OperationKind.MODEL_CALL:
            return replace(frame, **_call(attributes, frame, decoder))
        case _:
            return frame


def _call(attributes: Mapping[str, Any], frame: Operation, decoder: MessageDecoder) -> dict[str, Any]:
    context = decode(_value(attributes, "chat_ctx"))
    items = context.get("items") if isinstance(context, Mapping) else context
    sent = decoder.read_items(items) if isinstance(items, list) else Decoded()
    if sent.chain is None:
        sent = decoder.read(attributes.get("gen_ai.input.messages"))
    given = decoder.read(attributes.get("gen_ai.output.messages"), default=Role.ASSISTANT)
    if given.chain is None:
        calls = decode(_value(attributes, "response.function_calls"))
        text = as_str(_value(attributes, "response.text")) or ""
        message = {"role": "assistant", "content": text, "tool_calls": calls if isinstance(calls, list) else []}
        given = decoder.read_items([message], default=Role.ASSISTANT) if text or calls else Decoded()
    return {
        "input": sent.chain,
        "input_is_delta": as_bool(attributes.get("lk.input.delta")) is True,
        "output": given.messages,
        "tool_definitions": definitions_of(_value(attributes, "function_tools")),
        "gaps": tuple(sorted({*frame.gaps, *sent.gaps, *given.gaps})),
    }


def _tool(attributes: Mapping[str, Any], frame: Operation) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(_value(attributes, "function_tool.name")),
        "call_id": as_str(_value(attributes, "function_tool.id")),
        "is_error": frame.is_error or as_bool(_value(attributes, "function_tool.is_error")) is True,
    }
    arguments, result = _value(attributes, "function_tool.arguments"), _value(attributes, "function_tool.output")
    if arguments is not None:
        fields |= {"arguments": object_or_text(arguments), "has_arguments": True}
    if result is not None:
        fields |= {"result": object_or_text(result), "has_result": True}
    return fields


def _said(attributes: Mapping[str, Any], key: str, role: Role, decoder: MessageDecoder) -> Decoded:
    text = as_str(_value(attributes, key))
    return decoder.read_items([{"role": role.value, "content": text}], default=role) if text else Decoded()


def _value(attributes: Mapping[str, Any], key: str) -> Any:
    return first(attributes, f"lk.{key}", f"lk.pii.{key}")


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(first(attributes, "lk.agent_label", "lk.agent_name"))
    return Agent(name=name) if name else None
