"""OpenLIT: the semantic conventions, with older and own names of contents beside them.

Prompts of earlier releases are one text, a line a message that begins with its role; where a message has no text, the
whole list stands in its place, printed. Calls of an answer are joined by commas under `gen_ai.tool.*`. Tools, agents
and workflows have inputs and outputs under `gen_ai.{tool,agent,workflow}.*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.entities import call_arguments, call_result, input_items, output_items
from collector.messages.frame import span_frame
from collector.messages.payloads import request_items
from collector.messages.reprs import decode_repr
from collector.messages.semconv import agent_of, kind_of
from collector.messages.values import as_str, decode, first
from collector.model import Agent
from collector.operation import Operation, OperationKind, Role
from collector.telemetry.records import Span

NAME = "openlit"
MARKERS = (b"gen_ai.", b"openlit")

_LINE = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_PLACEHOLDER = "Function called with tools"
"""What earlier releases write in place of any answer to a call that was offered tools."""
_EVENTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def sniffs_span(span: Span) -> bool:
    return span.scope.name.startswith("openlit") or span.resource.attributes.get("telemetry.sdk.name") == "openlit"


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes: dict[str, Any] = dict(span.attributes)
    for event in span.events:
        key = _EVENTS.get(event.name)
        if key is not None:
            attributes.setdefault(event.name, event.attributes.get(key))
    kind = kind_of(attributes)
    frame = replace(span_frame(span, dialect=NAME, kind=kind), agent=_agent(attributes))
    match kind:
        case OperationKind.TOOL:
            return replace(frame, **_tool(attributes))
        case OperationKind.MODEL_CALL:
            sent, given = _prompt(attributes.get("gen_ai.content.prompt"), decoder), _completion(attributes, decoder)
            return replace(frame, input=sent.chain, output=given.messages)
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            asked = first(attributes, "gen_ai.workflow.input", "gen_ai.agent.human_input")
            told = first(attributes, "gen_ai.workflow.output", "gen_ai.agent.actual_output")
            sent, said = decoder.read(input_items(asked)), decoder.read_messages(output_items(told))
            return replace(frame, input=sent.chain, output=said)
        case _:
            return frame


def _prompt(value: object, decoder: MessageDecoder) -> Decoded:
    items = request_items(value)
    if items is None and isinstance(value, str):
        starts = [*_LINE.finditer(value)]
        ends = [*(match.start() for match in starts[1:]), len(value)]
        lines = zip(starts, ends, strict=False)
        items = [{"role": match[1], "content": _said(match[1], value[match.end() : end])} for match, end in lines]
        items = _printed_list(items) or items
        items = items or (
            [{"role": "user", "content": value}] if value and not isinstance(decode(value), list) else None
        )
    return decoder.read_items(items) if items else Decoded()


def _said(role: str, text: str) -> str:
    """A message without a text, whose calls are left out, is printed as None."""
    text = text.rstrip("\n")
    return "" if role == "assistant" and text == "None" else text


def _printed_list(items: list[Any]) -> list[Any] | None:
    """The whole list as it stands printed in the latest place; it has what the lines leave out."""
    for at in range(len(items) - 1, -1, -1):
        content = items[at]["content"]
        printed = decode_repr(content) if content[:2] == "[{" else None
        if isinstance(printed, list) and all(isinstance(item, Mapping) and "role" in item for item in printed):
            return printed
    return None


def _joined_calls(attributes: Mapping[str, Any]) -> list[Any]:
    """Ids and arguments are left out where they are not as many as the names."""
    names, ids, given = (as_str(attributes.get(f"gen_ai.tool.{key}")) for key in ("name", "call.id", "args"))
    if names is None:
        return []
    listed = names.split(", ")
    arguments = decode(f"[{given}]") if given is not None else None
    arguments = arguments if isinstance(arguments, list) and len(arguments) == len(listed) else [None] * len(listed)
    known: list[str] | list[None] = ids.split(", ") if ids is not None else []
    known = known if len(known) == len(listed) else [None] * len(listed)
    return [
        {"id": call_id, "function": {"name": name, "arguments": argument}}
        for name, call_id, argument in zip(listed, known, arguments, strict=True)
    ]


def _completion(attributes: Mapping[str, Any], decoder: MessageDecoder) -> Decoded:
    """Only beside the current attribute, which is better."""
    if attributes.get("gen_ai.output.messages"):
        return Decoded()
    text = as_str(attributes.get("gen_ai.content.completion")) or ""
    text = "" if text == _PLACEHOLDER else text
    calls = decode(attributes.get("gen_ai.response.tool_calls"))
    listed = calls if isinstance(calls, list) else [calls] if isinstance(calls, Mapping) else []
    listed = listed or _joined_calls(attributes)
    if not text and not listed:
        return Decoded()
    message = {"role": "assistant", "content": text, "tool_calls": listed}
    return decoder.read_items([message], default=Role.ASSISTANT)


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    arguments = first(attributes, "gen_ai.tool.input", "gen_ai.tool.args")
    result = first(attributes, "gen_ai.tool.output")
    if arguments is not None and "gen_ai.tool.call.arguments" not in attributes:
        fields |= {"arguments": call_arguments(arguments), "has_arguments": True}
    if result is not None and "gen_ai.tool.call.result" not in attributes:
        fields |= {"result": call_result(result), "has_result": True}
    return fields


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    known = agent_of(attributes)
    version = as_str(attributes.get("openlit.agent.version_hash"))
    if known is None:
        role = as_str(attributes.get("gen_ai.agent.role"))
        known = Agent(name=role) if role else None
    return replace(known, version=known.version or version) if known is not None else None
