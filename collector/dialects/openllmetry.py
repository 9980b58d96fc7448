"""OpenLLMetry (Traceloop): wrapper spans of decorators and frameworks, and the flattened messages of its earlier era.

Since 0.53 the messages are those of the semantic conventions, which `otel_genai` reads; what is left here is
`traceloop.*`. Before, messages were `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`, which other emitters use as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.entities import (
    call_arguments,
    call_result,
    input_items,
    is_failure,
    output_items,
    tool_message,
)
from collector.messages.flat import unflatten
from collector.messages.frame import span_frame
from collector.messages.payloads import request_items, response_items, tools_of
from collector.messages.roles import role_of
from collector.messages.semconv import agent_of, kind_of, usage_of
from collector.messages.values import as_str, decode, first
from collector.model import Agent
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "openllmetry"
MARKERS = (b"traceloop.", b"gen_ai.prompt.", b"gen_ai.completion.", b"llm.request.type")

_KINDS = {
    "workflow": OperationKind.WORKFLOW,
    "agent": OperationKind.AGENT,
    "tool": OperationKind.TOOL,
    "handoff": OperationKind.HANDOFF,
}
_CALL_TYPES = {"chat", "completion"}
_ASKING = {"tool_use", "tool_calls", "tool_call", "function_call"}
_PRINTED = re.compile(r'role: "\w+"\s+parts \{')
"""A message as protobuf prints it, which nobody said."""
_FLAT = ("gen_ai.prompt.", "gen_ai.completion.")
_TOOL_CLASS = "Tool.task"
"""LlamaIndex's tools are recorded under the names of their classes; which one it was is in its output alone."""


def sniffs_span(span: Span) -> bool:
    return any(key.startswith(("traceloop.", *_FLAT)) or key == "llm.request.type" for key in span.attributes)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    wrapper = attributes.get("traceloop.span.kind")
    kind = _KINDS.get(wrapper, OperationKind.OTHER) if isinstance(wrapper, str) else _call_kind(attributes)
    if kind is OperationKind.OTHER and attributes.get("gen_ai.operation.name") == "execute_tool":
        kind = OperationKind.TOOL  # in JavaScript a tool is a task
    is_class = wrapper == "task" and str(attributes.get("traceloop.entity.name")).endswith(_TOOL_CLASS)
    kind = OperationKind.TOOL if is_class else kind
    frame = replace(
        span_frame(span, dialect=NAME, kind=kind),
        agent=agent_of(attributes) or _agent(attributes, kind),
        model=as_str(first(attributes, "gen_ai.response.model", "gen_ai.request.model")),
        provider=as_str(first(attributes, "gen_ai.provider.name", "gen_ai.system")),
        response_id=as_str(attributes.get("gen_ai.response.id")),
        usage=usage_of(attributes),
        is_internal=as_str(attributes.get("llm.request.type")) in {"embedding", "rerank"},
    )
    if kind is OperationKind.TOOL:
        fields = _tool(attributes)
        if is_class:
            frame, fields["tool_name"] = replace(frame, name=""), _name_in_output(attributes)
        return replace(frame, **fields)
    if kind in {OperationKind.WORKFLOW, OperationKind.AGENT}:
        return replace(frame, **_entity(attributes, decoder))
    return replace(frame, **_flat(attributes, frame, decoder))


def _call_kind(attributes: Mapping[str, Any]) -> OperationKind:
    if as_str(attributes.get("llm.request.type")) in _CALL_TYPES or any(key.startswith(_FLAT) for key in attributes):
        return OperationKind.MODEL_CALL
    return kind_of(attributes)


def _flat(attributes: Mapping[str, Any], frame: Operation, decoder: MessageDecoder) -> dict[str, Any]:
    prompts = unflatten(attributes, "gen_ai.prompt")
    completions = unflatten(attributes, "gen_ai.completion")
    if prompts is None and completions is None and frame.kind is OperationKind.MODEL_CALL:
        return _bodies(attributes, decoder)
    if frame.scope.endswith(".replicate"):
        completions = _pieces(completions)
    asked = list(map(_prompt, prompts)) if isinstance(prompts, list) else None
    is_delta = False
    if asked is not None and frame.scope.endswith(".bedrock"):
        asked, is_delta = _dumped(asked)
    if asked is not None and frame.scope.endswith("instrumentation-vertexai"):
        asked = _with_untold_results(asked)
    sent = decoder.read(asked, default=Role.USER)
    first_one = list(map(_completion, completions[:1])) if isinstance(completions, list) else None
    given = decoder.read(first_one, default=Role.ASSISTANT)
    return {
        "input": sent.chain,
        "input_is_delta": is_delta,
        "output": given.messages,
        "gaps": tuple(sorted({*frame.gaps, *sent.gaps, *given.gaps})),
        "tool_definitions": definitions_of(unflatten(attributes, "llm.request.functions")),
    }


def _bodies(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    """A call of an endpoint whose interface is not known: its request and its response, as they were sent."""
    request = attributes.get("traceloop.entity.input")
    sent = decoder.read(request_items(request), default=Role.USER)
    given = decoder.read(response_items(attributes.get("traceloop.entity.output")), default=Role.ASSISTANT)
    return {"input": sent.chain, "output": given.messages, "tool_definitions": definitions_of(tools_of(request))}


def _pieces(completions: Any) -> Any:
    """One answer whose pieces were recorded as an answer each."""
    texts = [item.get("content") for item in completions] if isinstance(completions, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        return completions
    return [{"role": "assistant", "content": "".join(texts)}]


def _prompt(item: Any) -> Any:
    """Earlier releases know no tools among LangChain's roles; a bare prompt goes by the name of who says it."""
    if not isinstance(item, Mapping):
        return item
    if isinstance(item.get("user"), str) and "content" not in item:
        return {"role": "user", "content": None if _PRINTED.match(item["user"]) else item["user"]}
    if item.get("content") == "null" and role_of(item.get("role")) is Role.ASSISTANT:
        return {**item, "content": None}
    return {**item, "role": "tool"} if item.get("role") == "unknown" else item


def _dumped(prompts: list[Any]) -> tuple[list[Any], bool]:
    """Claude's messages on Bedrock, each content as JSON; and whether they are no more than the latest.

    Releases before 0.57 write every content to the place of the first message, so that the last one stands there.
    """
    found = [
        {**item, "content": decode(item["content"], levels=1)} if isinstance(item.get("content"), str) else item
        for item in prompts
        if isinstance(item, Mapping)
    ]
    if len(found) > 1 and "content" in found[0] and not any("content" in item for item in found[1:]):
        return [{**found[-1], "content": found[0]["content"]}], True
    return found, False


def _with_untold_results(prompts: list[Any]) -> list[Any]:
    """Gemini's results come as the user's; unrecorded, they are empty texts, as calls are: a user's words are none."""
    found = list(prompts)
    for index in range(1, len(prompts)):
        item = prompts[index]
        is_silent = isinstance(item, Mapping) and item.get("content") in (None, "") and _is(item, Role.USER)
        if is_silent and _is(prompts[index - 1], Role.ASSISTANT):
            found[index] = {**item, "role": "tool", "content": None}
    return found


def _is(item: Any, role: Role) -> bool:
    return isinstance(item, Mapping) and role_of(item.get("role")) is role


def _completion(item: Any) -> Any:
    """An empty text may be JSON; a call that was asked for may be known by the reason to stop alone."""
    if not isinstance(item, Mapping):
        return item
    content = "" if item.get("content") == '""' else item.get("content")
    asked = item.get("tool_calls") or item.get("function_call")
    unknown = [{"name": ""}] if not asked and item.get("finish_reason") in _ASKING else None
    return {**item, "content": content, **({"tool_calls": unknown} if unknown else {})}


def _entity(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    sent = decoder.read(input_items(attributes.get("traceloop.entity.input")), default=Role.USER)
    given = decoder.read(output_items(attributes.get("traceloop.entity.output")), default=Role.ASSISTANT)
    return {"input": sent.chain, "output": given.messages}


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    given = tool_message(attributes.get("traceloop.entity.output")) or {}
    named = as_str(given.get("name")) or attributes.get("traceloop.entity.name")
    fields: dict[str, Any] = {
        "tool_name": as_str(attributes.get("gen_ai.tool.name") or named),
        "call_id": as_str(attributes.get("gen_ai.tool.call.id") or given.get("tool_call_id")),
    }
    arguments = first(attributes, "gen_ai.tool.call.arguments", "traceloop.entity.input")
    if arguments is not None:
        fields |= {"arguments": call_arguments(arguments), "has_arguments": True}
    result = first(attributes, "gen_ai.tool.call.result", "traceloop.entity.output")
    if result is not None:
        fields |= {"result": call_result(result), "has_result": True}
        if is_failure(result):
            fields["is_error"] = True
    return fields


def _name_in_output(attributes: Mapping[str, Any]) -> str | None:
    given = decode(attributes.get("traceloop.entity.output"))
    return as_str(given.get("tool_name")) if isinstance(given, Mapping) else None


def _agent(attributes: Mapping[str, Any], kind: OperationKind) -> Agent | None:
    name = as_str(attributes.get("traceloop.entity.name")) if kind is OperationKind.AGENT else None
    version = as_str(attributes.get("traceloop.entity.version"))
    return Agent(name=name, version=version) if name else None
