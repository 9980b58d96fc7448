"""The Vercel AI SDK's own spans: versions 3 to 6, and version 7 with its legacy integration.

`ai.operationId` tells the spans apart: `ai.generateText` and its like are one request of the application (a turn),
`ai.generateText.doGenerate` and its like one call of the model, `ai.toolCall` one tool. Version 3 named its results
`ai.result.*`, and its earliest releases had `operation.name` only. With `recordInputs` or `recordOutputs`
off the values are absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.bodies import read_request
from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.payloads import system_of
from collector.messages.semconv import usage_of
from collector.messages.truncation import decode_or_mend
from collector.messages.values import as_int, as_str, first, object_or_text
from collector.model import Agent, GapKind
from collector.operation import Operation, OperationKind, Role, Usage
from collector.telemetry.records import Span

NAME = "vercel_ai_legacy"
MARKERS = (b"ai.operationId", b"ai.model.", b"ai.toolCall.")

_REQUESTS = {"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "ai.workflowAgent.stream"}
_CALLS = {f"{name}.{step}" for name in _REQUESTS for step in ("doGenerate", "doStream")}
_TEXT = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
_NAMES = ("type", "toolCallId", "toolName")
_CALLED = ("ai.response.toolCalls", "ai.result.toolCalls")


def sniffs_span(span: Span) -> bool:
    return _operation(span.attributes).startswith("ai.")


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    name = _operation(attributes)
    frame = replace(
        span_frame(span, dialect=NAME, kind=_kind(name)),
        agent=_agent(attributes),
        model=as_str(
            first(attributes, "gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id")
        ),
        provider=_provider(attributes),
        usage=_usage(attributes),
        is_internal=name not in _REQUESTS | _CALLS and name != "ai.toolCall",
    )
    match frame.kind:
        case OperationKind.TOOL:
            return replace(frame, **_tool(attributes))
        case OperationKind.MODEL_CALL:
            return _upon(frame, _model_call(attributes, decoder))
        case OperationKind.AGENT:
            return _upon(frame, _request(attributes, decoder))
        case _:
            return frame


def _operation(attributes: Mapping[str, Any]) -> str:
    name = attributes.get("ai.operationId") or attributes.get("operation.name")
    return name.partition(" ")[0] if isinstance(name, str) else ""


def _kind(name: str) -> OperationKind:
    if name == "ai.toolCall":
        return OperationKind.TOOL
    if name in _CALLS:
        return OperationKind.MODEL_CALL
    return OperationKind.AGENT if name in _REQUESTS else OperationKind.OTHER


def _model_call(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    sent = decoder.read(attributes.get("ai.prompt.messages"), default=Role.USER)
    given = _answer(attributes, decoder)
    return {
        "input": sent.chain,
        "output": given.messages,
        "gaps": (*sent.gaps, *given.gaps),
        "tool_definitions": definitions_of(attributes.get("ai.prompt.tools")),
        "response_id": as_str(first(attributes, "ai.response.id", "gen_ai.response.id")),
    }


def _request(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    """`ai.prompt` holds what the application passed: a system prompt, and either a text or messages."""
    prompt = attributes.get("ai.prompt")
    body = read_request(prompt, decoder)
    sent, system = body.decoded, body.system
    if sent.chain is None:
        found, was_cut = decode_or_mend(prompt)
        text = first(found, "prompt", "text") if isinstance(found, Mapping) else found
        if isinstance(text, str):
            sent = decoder.read_items([{"role": "user", "content": text}], default=Role.USER)
        sent = replace(sent, gaps=(*sent.gaps, GapKind.TRUNCATED)) if was_cut else sent
        system = system_of(found) if isinstance(found, Mapping) else None
    given = _answer(attributes, decoder, is_last=True)
    return {
        "input": sent.chain,
        "output": given.messages,
        "gaps": (*sent.gaps, *given.gaps),
        "system_instructions": system,
    }


def _answer(attributes: Mapping[str, Any], decoder: MessageDecoder, *, is_last: bool = False) -> Decoded:
    """One message; `is_last`: the text is the request's last word, also where it ended with calls."""
    calls, was_cut = decode_or_mend(first(attributes, *_CALLED))
    reasoning = as_str(attributes.get("ai.response.reasoning"))
    files, _ = decode_or_mend(attributes.get("ai.response.files"))
    asked = [{**call, "type": "tool-call"} for call in _objects(calls)]
    if was_cut and asked:
        asked[-1] = {key: asked[-1].get(key) for key in _NAMES}  # half of its arguments would pass for all
    content: list[Any] = [{"type": "reasoning", "text": reasoning}] if reasoning else []
    text = as_str(first(attributes, *_TEXT))
    content += [{"type": "text", "text": text}] if text else []
    content += [{**file, "type": "file", "data": None} for file in _objects(files)]
    contents = [asked, content] if is_last else [[*content, *asked]]
    messages = [{"role": "assistant", "content": parts} for parts in contents if parts]
    found = decoder.read_items(messages, default=Role.ASSISTANT) if messages else Decoded()
    return replace(found, gaps=(*found.gaps, GapKind.TRUNCATED)) if was_cut else found


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("ai.toolCall.name")),
        "call_id": as_str(attributes.get("ai.toolCall.id")),
    }
    if "ai.toolCall.args" in attributes:
        fields |= {"arguments": object_or_text(attributes["ai.toolCall.args"]), "has_arguments": True}
    if "ai.toolCall.result" in attributes:
        fields |= {"result": object_or_text(attributes["ai.toolCall.result"]), "has_result": True}
    return fields


def _upon(frame: Operation, fields: dict[str, Any]) -> Operation:
    return replace(frame, **{**fields, "gaps": tuple(sorted({*frame.gaps, *fields["gaps"]}))})


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(first(attributes, "ai.telemetry.functionId", "resource.name"))
    return Agent(name=name) if name else None


def _provider(attributes: Mapping[str, Any]) -> str | None:
    """The company of a provider such as `openai.responses`."""
    name = as_str(first(attributes, "ai.model.provider", "gen_ai.system"))
    return name.partition(".")[0] if name else None


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    sent = as_int(first(attributes, "ai.usage.inputTokens", "ai.usage.promptTokens"))
    given = as_int(first(attributes, "ai.usage.outputTokens", "ai.usage.completionTokens"))
    return usage_of(attributes) or (Usage(sent, given) if sent is not None or given is not None else None)
