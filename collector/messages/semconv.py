"""The GenAI semantic conventions' attributes, which spans, events and many dialects share.

Reads old and new name of everything that was renamed. `semconv_fields` gives what the attributes say as fields of an
`Operation`; a dialect puts them upon its frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.reprs import decode_fields, decode_repr
from collector.messages.streamed import unfinished_choices
from collector.messages.values import as_int, as_str, decode, first, object_or_text, plain, text_of
from collector.model import Agent, GapKind, JsonValue
from collector.operation import OperationKind, Role, Usage

_KINDS = {
    "chat": OperationKind.MODEL_CALL,
    "generate_content": OperationKind.MODEL_CALL,
    "text_completion": OperationKind.MODEL_CALL,
    "completion": OperationKind.MODEL_CALL,
    "acompletion": OperationKind.MODEL_CALL,
    "responses": OperationKind.MODEL_CALL,
    "aresponses": OperationKind.MODEL_CALL,
    "message": OperationKind.MODEL_CALL,
    "messages": OperationKind.MODEL_CALL,
    "llm_call": OperationKind.MODEL_CALL,
    "embeddings": OperationKind.MODEL_CALL,
    "embedding": OperationKind.MODEL_CALL,
    "invoke_agent": OperationKind.AGENT,
    "agent_call": OperationKind.AGENT,
    "handle_conversation_turn": OperationKind.AGENT,
    "invoke_workflow": OperationKind.WORKFLOW,
    "execute_tool": OperationKind.TOOL,
    "tool_call": OperationKind.TOOL,
    "retrieval": OperationKind.RETRIEVAL,
    "handoff": OperationKind.HANDOFF,
}
_STATED = ("workflow", "agent", "tool")
_INTERNAL = {"embeddings", "embedding", "evaluation", "rerank", "moderation"}
_REFERENCES = frozenset({"gen_ai.input.messages_ref", "gen_ai.output.messages_ref", "gen_ai.system_instructions_ref"})


def kind_of(attributes: Mapping[str, Any]) -> OperationKind:
    """What the attributes say the operation is; OTHER where they do not."""
    name = attributes.get("gen_ai.operation.name")
    if isinstance(name, str) and name:
        return _KINDS.get(name, OperationKind.OTHER)
    if attributes.get("traceloop.span.kind") in _STATED:  # by another convention, whose dialect reads it
        return OperationKind.OTHER
    if attributes.get("gen_ai.tool.name") and "gen_ai.request.model" not in attributes:
        return OperationKind.TOOL
    if "gen_ai.request.model" in attributes or "gen_ai.response.model" in attributes:
        return OperationKind.MODEL_CALL
    return OperationKind.OTHER


def semconv_fields(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    kind = kind_of(attributes)
    sent = decoder.read(attributes.get("gen_ai.input.messages"), default=Role.USER)
    given = _given(attributes.get("gen_ai.output.messages"), decoder)
    gaps = {*sent.gaps, *given.gaps}
    if not _REFERENCES.isdisjoint(attributes) and any(attributes.get(key) for key in _REFERENCES):
        gaps.add(GapKind.CONTENT_ELSEWHERE)
    if attributes.get("gen_ai.conversation.compacted") in (True, "true"):
        gaps.add(GapKind.HISTORY_COMPACTED)
    fields: dict[str, Any] = {
        "kind": kind,
        "input": sent.chain,
        "output": given.messages,
        "system_instructions": decoder.once(_instructions, attributes.get("gen_ai.system_instructions")),
        "tool_definitions": decoder.once(definitions_of, attributes.get("gen_ai.tool.definitions")),
        "response_id": as_str(attributes.get("gen_ai.response.id")),
        "previous_response_id": as_str(
            first(attributes, "gen_ai.request.previous_response.id", "gen_ai.request.previous_response_id")
        ),
        "model": as_str(first(attributes, "gen_ai.response.model", "gen_ai.request.model")),
        "provider": as_str(first(attributes, "gen_ai.provider.name", "gen_ai.system")),
        "agent": agent_of(attributes),
        "usage": usage_of(attributes),
        "is_internal": as_str(attributes.get("gen_ai.operation.name")) in _INTERNAL,
        "gaps": tuple(sorted(gaps)) if gaps else (),
    }
    if kind is OperationKind.TOOL:
        fields |= tool_fields(attributes)
    if kind is OperationKind.HANDOFF:
        fields["from_agent"] = as_str(attributes.get("gen_ai.handoff.from_agent"))
        fields["to_agent"] = as_str(attributes.get("gen_ai.handoff.to_agent"))
    return fields


def _instructions(value: object) -> str | None:
    return as_str(text_of(decode(value)))


def _given(value: object, decoder: MessageDecoder) -> Decoded:
    given = decoder.read(value, default=Role.ASSISTANT)
    if given.chain is None or given.chain.length == 1:
        return given
    whole = unfinished_choices(value)
    return decoder.read_items(whole, default=Role.ASSISTANT) if whole is not None else given


def tool_fields(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("gen_ai.tool.name")),
        "call_id": as_str(first(attributes, "gen_ai.tool.call.id", "gen_ai.tool.call_id")),
    }
    if "gen_ai.tool.call.arguments" in attributes:
        fields |= {"arguments": _arguments(attributes["gen_ai.tool.call.arguments"]), "has_arguments": True}
    if "gen_ai.tool.call.result" in attributes:
        fields |= {"result": _result(attributes["gen_ai.tool.call.result"]), "has_result": True}
    return fields


def _arguments(value: object) -> JsonValue:
    """The arguments, printed ones too; where a callback's own record of the call stands in their place, those in it."""
    found = object_or_text(value)
    if isinstance(found, str) and found[:1] == "{":
        printed = decode_repr(found)
        found = plain(printed) if isinstance(printed, Mapping) else found
    if isinstance(found, Mapping) and "input_str" in found and isinstance(found.get("inputs"), Mapping):
        return found["inputs"]
    return found


def _result(value: object) -> JsonValue:
    """What a tool gave back; of a printed tool message the content, which is what the model was told."""
    fields = decode_fields(value) if isinstance(value, str) and value.startswith("content=") else None
    if fields is not None and "content" in fields and "tool_call_id" in fields:
        value = fields["content"]
    return object_or_text(value) if isinstance(value, str) else plain(value)


def agent_of(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(attributes.get("gen_ai.agent.name"))
    identity = as_str(attributes.get("gen_ai.agent.id"))
    version = as_str(attributes.get("gen_ai.agent.version"))
    return Agent(name, identity, version) if name or identity or version else None


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    sent = as_int(first(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"))
    given = as_int(first(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"))
    return Usage(sent, given) if sent is not None or given is not None else None
