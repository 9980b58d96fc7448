"""Haystack's own tracer: attributes `haystack.*` on the spans of pipelines, components, agents and their steps.

Inputs and outputs are JSON texts of what a component was called with, or what Python prints of them where one value is
no JSON (a callback). Without content tracing the spans of an agent's steps have no attributes at all, so there the
tracer's scope and the name tell what they are. A tool that failed is no failed span; its output says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from collector.messages.bodies import read_request
from collector.messages.decoder import Decoded, MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.frame import span_frame
from collector.messages.recorded import model_call_fields, wrapper_fields
from collector.messages.reprs import Once, decode_repr
from collector.messages.tool_blocks import unwrap_result
from collector.messages.truncation import mend
from collector.messages.values import as_bool, as_int, as_str, decode, first, object_or_text
from collector.model import Agent, GapKind
from collector.operation import Message, Operation, OperationKind, Usage
from collector.telemetry.records import Span

NAME = "haystack"
MARKERS = (b"haystack.",)

_PREFIX = "haystack."
_SCOPE = "haystack"
_COMPONENT = "haystack.component."
_STEP = "haystack.agent.step"
_CALL_KEYS = (f"{_STEP}.llm.", f"{_STEP}.llm_output", f"{_STEP}.input")
"""The last two: releases whose step span was the model call's as well."""
_TOOL_KEYS = ("haystack.tool.", f"{_STEP}.tool.")
_SAID = ("replies", "messages")
"""Under what names components give back what the user is told."""


def sniffs_span(span: Span) -> bool:
    if span.scope.name == _SCOPE and span.name.startswith(_PREFIX):
        return True
    return any(key.startswith(_PREFIX) for key in span.attributes)


def read_span(span: Span, decoder: MessageDecoder) -> Operation:
    attributes = span.attributes
    kind = _kind(span)
    frame = span_frame(span, dialect=NAME, kind=kind)
    match kind:
        case OperationKind.MODEL_CALL:
            return _upon(frame, _model_call(attributes, decoder))
        case OperationKind.TOOL:
            return _upon(frame, _tool(attributes))
        case OperationKind.AGENT | OperationKind.WORKFLOW:
            frame = replace(
                frame,
                agent=_agent(attributes),
                tool_definitions=definitions_of(attributes.get("haystack.agent.tools")),
            )
            return _upon(frame, _wrapper(attributes, decoder))
        case _:
            return frame


def _kind(span: Span) -> OperationKind:
    keys = span.attributes.keys()
    name = span.name
    if any(key.startswith(_TOOL_KEYS) for key in keys) or name == f"{_STEP}.tool":
        return _tool_kind(span.attributes)
    if any(key.startswith(_CALL_KEYS) for key in keys) or name == f"{_STEP}.llm":
        return OperationKind.MODEL_CALL
    if _STEP in keys or name == _STEP:
        return OperationKind.OTHER
    if any(key.startswith("haystack.agent.") for key in keys) or name == "haystack.agent.run":
        return OperationKind.AGENT
    if any(key.startswith("haystack.pipeline.") for key in keys) or name.endswith("pipeline.run"):
        return OperationKind.WORKFLOW
    return _component_kind(span.attributes)


def _component_kind(attributes: Mapping[str, Any]) -> OperationKind:
    """A generator gives replies; what a component is called is the user's choice, its class is not."""
    name = as_str(attributes.get(f"{_COMPONENT}type")) or ""
    if name.endswith("Agent"):
        return OperationKind.AGENT
    if name == "ToolInvoker":
        return _tool_kind(attributes)
    if name.endswith("Retriever"):
        return OperationKind.RETRIEVAL
    gives = decode(attributes.get(f"{_COMPONENT}output_spec"))
    replies = "replies" in gives if isinstance(gives, Mapping) else name.endswith("Generator")
    return OperationKind.MODEL_CALL if replies else OperationKind.OTHER


def _tool_kind(attributes: Mapping[str, Any]) -> OperationKind:
    """One span may stand for all the tools that one message asked for; then the next call tells what they gave."""
    if "haystack.tool.name" in attributes:
        return OperationKind.TOOL
    return OperationKind.TOOL if _only_result(_returned(attributes)) is not None else OperationKind.OTHER


def _model_call(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    given, gaps = _value(first(attributes, f"{_STEP}.llm.input", f"{_STEP}.input", f"{_COMPONENT}input"), decoder.once)
    returned, more = _value(
        first(attributes, f"{_STEP}.llm.output", f"{_STEP}.llm_output", f"{_COMPONENT}output"), decoder.once
    )
    fields = model_call_fields(given, returned, decoder)
    if fields["input"] is None:
        fields["input"] = _bare(given, decoder).chain
    fields["output"] = fields["output"][:1]  # replies are choices
    about = _about(returned)
    fields["gaps"] = (*fields["gaps"], *gaps, *more)
    fields["model"] = fields["model"] or as_str(about.get("model"))
    fields["response_id"] = fields["response_id"] or as_str(first(about, "id", "response_id"))
    fields["usage"] = _usage(about.get("usage"))
    return fields


def _bare(given: object, decoder: MessageDecoder) -> Decoded:
    """A chat generator may be given one text in place of messages."""
    found = decode(given)
    text = found.get("messages") if isinstance(found, Mapping) else None
    return decoder.read_items([{"role": "user", "content": text}]) if isinstance(text, str) and text else Decoded()


def _about(returned: object) -> Mapping[str, Any]:
    """What the generator says about its reply: in the reply, or beside it where replies are texts."""
    found = decode(returned)
    replies = found.get("replies") if isinstance(found, Mapping) else found
    beside = found.get("meta") if isinstance(found, Mapping) else None
    for value in (replies, beside):
        reply = value[0] if isinstance(value, list) and value else None
        meta = first(reply, "meta", "_meta") or reply if isinstance(reply, Mapping) else None
        if isinstance(meta, Mapping):
            return meta
    return {}


def _tool(attributes: Mapping[str, Any]) -> dict[str, Any]:
    returned = _returned(attributes)
    told = _only_result(returned)
    if told is not None:
        origin = told.get("origin")
        origin = origin if isinstance(origin, Mapping) else {}
        fields = _result(unwrap_result(told.get("result")), failed=as_bool(told.get("error")) is True)
        return fields | {
            "tool_name": as_str(attributes.get("haystack.tool.name")) or as_str(origin.get("tool_name")),
            "call_id": as_str(origin.get("id")),
            "arguments": object_or_text(origin.get("arguments")),
            "has_arguments": origin.get("arguments") is not None,
        }
    given, gaps = _value(attributes.get(f"{_STEP}.tool.input"))
    fields = {
        "tool_name": as_str(attributes.get("haystack.tool.name")),
        "call_id": as_str(first(attributes, "haystack.tool.call.id", "haystack.tool.call_id")),
        "gaps": gaps,
    }
    if given is not None:
        fields |= {"arguments": object_or_text(given), "has_arguments": True}
    if returned is not None:
        fields |= _result(unwrap_result(returned), failed=as_bool(attributes.get("haystack.tool.error")) is True)
    return fields


def _result(result: Any, *, failed: bool) -> dict[str, Any]:
    if failed and isinstance(result, Mapping) and set(result) == {"error"}:
        result = result["error"]
    fields: dict[str, Any] = {"result": result, "has_result": True, "is_error": failed}
    return fields | ({"error": result[:512]} if failed and isinstance(result, str) else {})


def _returned(attributes: Mapping[str, Any]) -> Any:
    value = first(attributes, f"{_STEP}.tool.output", f"{_COMPONENT}output")
    found, _ = _value(value)
    return value if found is None else found


def _only_result(returned: object) -> Mapping[str, Any] | None:
    """The result in the only message that the tools gave back."""
    found = decode(returned)
    messages = found.get("tool_messages") if isinstance(found, Mapping) else None
    only = messages[0] if isinstance(messages, list) and len(messages) == 1 else None
    content = first(only, "content", "_content") if isinstance(only, Mapping) else None
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    result = block.get("tool_call_result", block) if isinstance(block, Mapping) else None
    return result if isinstance(result, Mapping) and "result" in result and "origin" in result else None


def _wrapper(attributes: Mapping[str, Any], decoder: MessageDecoder) -> dict[str, Any]:
    given, gaps = _value(
        first(attributes, "haystack.agent.input", "haystack.pipeline.input_data", f"{_COMPONENT}input"), decoder.once
    )
    returned, more = _value(
        first(attributes, "haystack.agent.output", "haystack.pipeline.output_data", f"{_COMPONENT}output"), decoder.once
    )
    is_pipeline = "haystack.pipeline.input_data" in attributes
    fields = wrapper_fields(None if is_pipeline else given, returned, decoder)
    if is_pipeline:
        fields["input"] = _asked(given, decoder).chain
    elif fields["input"] is None:
        fields["input"] = _bare(given, decoder).chain
    if not fields["output"]:
        fields["output"] = _told(returned, decoder)
    fields["gaps"] = (*fields["gaps"], *gaps, *more)
    return fields


def _told(returned: object, decoder: MessageDecoder) -> tuple[Message, ...]:
    """What a pipeline gave back from the only one of its components that says anything."""
    found = decode(returned)
    parts = [part for part in found.values() if isinstance(part, Mapping)] if isinstance(found, Mapping) else []
    told = [part for part in parts if any(name in part for name in _SAID)]
    return wrapper_fields(None, told[0], decoder)["output"] if len(told) == 1 else ()


def _asked(given: object, decoder: MessageDecoder) -> Decoded:
    """What the user said to a pipeline whose components are each given their part: the only message list, else the
    only text.
    """
    whole = read_request(given, decoder).decoded
    if whole.chain is not None:
        return whole
    found = decode(given)
    inputs = [part for part in found.values() if isinstance(part, Mapping)] if isinstance(found, Mapping) else []
    lists = [read.decoded for part in inputs if (read := read_request(part, decoder)).decoded.chain is not None]
    if lists:
        return lists[0] if len(lists) == 1 else Decoded()
    texts = {text for part in inputs for text in _texts(part)}
    return decoder.read_items([{"role": "user", "content": texts.pop()}]) if len(texts) == 1 else Decoded()


def _texts(inputs: Mapping[str, Any]) -> Iterator[str]:
    for value in inputs.values():
        if isinstance(value, str) and value.strip():
            yield value.strip()


def _value(value: object, once: Once | None = None) -> tuple[Any, tuple[GapKind, ...]]:
    """An input or output: JSON text as it is, what Python printed as what it held; and what of it is lost."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("{", "["):
        return (value if value != "" else None), ()
    if _is_json(text):
        return text, ()
    printed = decode_repr(text, once=once)
    if printed is not None:
        return printed, ()
    mended = mend(text)
    return mended, (GapKind.UNDECODABLE if mended is None else GapKind.TRUNCATED,)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def _agent(attributes: Mapping[str, Any]) -> Agent | None:
    name = as_str(attributes.get(f"{_COMPONENT}name"))
    return Agent(name=name) if name else None


def _usage(value: object) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    sent = as_int(first(value, "prompt_tokens", "input_tokens"))
    given = as_int(first(value, "completion_tokens", "output_tokens"))
    return Usage(sent, given) if sent is not None or given is not None else None


def _upon(frame: Operation, fields: dict[str, Any]) -> Operation:
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    fields["is_error"] = frame.is_error or fields.get("is_error", False)
    fields["error"] = frame.error or fields.get("error")
    return replace(frame, **fields)
