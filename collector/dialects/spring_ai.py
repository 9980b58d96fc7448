"""Spring AI: chat clients around model calls, tools with names of their own, prompts as lists of bare texts.

Model calls follow the semantic conventions without content; where content is switched on it is in events or attributes
`gen_ai.prompt` and `gen_ai.completion`. A prompt is a list of texts without roles, of which only the last is sure to be
what the call was asked; a chat client's names the roles. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.frame import span_frame
from collector.messages.roles import role_of
from collector.messages.values import as_str, decode, object_or_text
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "spring_ai"
MARKERS = (b"spring.ai.", b"gen_ai.")

_EVENTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def sniffs_span(span: Span) -> bool:
    attributes = span.attributes
    return "spring.ai.kind" in attributes or attributes.get("gen_ai.system") == "spring_ai"


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: dict[str, Any] = dict(span.attributes)
    for event in span.events:
        key = _EVENTS.get(event.name)
        if key is not None:
            attributes.setdefault(key, event.attributes.get(key))
    kind = as_str(attributes.get("spring.ai.kind"))
    if kind == "tool_call":
        return replace(span_frame(span, dialect=NAME, kind=OperationKind.TOOL), **_tool(attributes))
    if kind in {"advisor", "vector_store"}:
        return span_frame(span, dialect=NAME)
    is_client = kind == "chat_client"
    frame = span_frame(span, dialect=NAME, kind=OperationKind.WORKFLOW if is_client else OperationKind.MODEL_CALL)
    sent = _prompt(attributes.get("gen_ai.prompt"), decoder)
    given = _completion(attributes.get("gen_ai.completion"), decoder)
    return replace(
        frame,
        input=sent.chain,
        output=given.messages,
        conversation_id=as_str(attributes.get("spring.ai.chat.client.conversation.id")),
        conversation_id_rank=0 if as_str(attributes.get("spring.ai.chat.client.conversation.id")) else 99,
    )


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"tool_name": as_str(attributes.get("spring.ai.tool.definition.name"))}
    arguments, result = attributes.get("spring.ai.tool.call.arguments"), attributes.get("spring.ai.tool.call.result")
    if arguments is not None:
        fields |= {"arguments": object_or_text(arguments), "has_arguments": True}
    if result is not None:
        fields |= {"result": object_or_text(result), "has_result": True}
    return fields


def _prompt(value: object, decoder: MessageDecoder) -> Decoded:
    found = _listed(value)
    if isinstance(found, Mapping):
        order = sorted(found, key=lambda name: role_of(name) is not Role.SYSTEM)
        return decoder.read_items([{"role": name, "content": found[name]} for name in order if role_of(name)])
    texts = [item for item in found if isinstance(item, str)]
    if len(texts) < len(found):
        return decoder.read_items(found)
    return decoder.read_items([{"role": "user", "content": texts[-1]}]) if texts else Decoded()


def _completion(value: object, decoder: MessageDecoder) -> Decoded:
    found = _listed(value)
    texts = [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
    messages = [{"role": "assistant", "content": texts[0]}] if texts else []
    return decoder.read_items(messages, default=Role.ASSISTANT) if messages else Decoded()


def _listed(value: object) -> list[Any] | Mapping[str, Any]:
    """A list of texts; or names and texts, printed as `["user":"...", "system":"..."]`."""
    found = decode(value)
    if isinstance(found, (list, Mapping)):
        return found
    if isinstance(found, str) and found[:2] == '["' and found.endswith("]"):
        try:
            pairs = orjson.loads(b"{" + found[1:-1].encode("utf-8", "replace") + b"}")
        except ValueError:
            return []
        return pairs if isinstance(pairs, dict) else []
    return [found] if isinstance(found, str) and found else []
