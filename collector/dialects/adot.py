"""AWS Distro for OpenTelemetry, and so Bedrock AgentCore: contents taken out of the spans, into one log record a span.

A record names its span; its event is named after the instrumentation's scope, and its body is
`{"input": {"messages": ...}, "output": {"messages": ...}}`. What kind of operation it is the span says. A content may
be an object around JSON text, with the role within.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.entities import call_arguments, call_result, input_items, output_items
from collector.messages.frame import log_frame
from collector.messages.tool_blocks import unwrap_result
from collector.messages.values import as_str, decode
from collector.operation import Operation, Role
from collector.telemetry.records import LogRecord

NAME = "adot"
MARKERS = (b"messages",)


def sniffs_log(record: LogRecord) -> bool:
    if not record.span_id:
        return False
    body = decode(record.body)
    return isinstance(body, Mapping) and any(_listed(body.get(side)) for side in ("input", "output"))


def read_log(record: LogRecord, decoder: MessageDecoder) -> Operation | None:
    body = decode(record.body)
    given, returned = _listed(body.get("input")), _listed(body.get("output"))
    sent = decoder.read_items([item for message in given for item in _messages(message, Role.USER)])
    told = decoder.read_items(
        [item for message in returned for item in _messages(message, Role.ASSISTANT)], default=Role.ASSISTANT
    )
    frame = log_frame(record, dialect=NAME)
    fields: dict[str, Any] = {"input": sent.chain, "output": told.messages}
    if len(given) == 1:  # should the span turn out to be a tool's
        fields |= {"arguments": call_arguments(_content(given[0])[1]), "has_arguments": True}
    if len(returned) == 1:
        fields |= {"result": unwrap_result(call_result(_content(returned[0])[1])), "has_result": True}
    return replace(frame, **fields, gaps=tuple(sorted({*frame.gaps, *sent.gaps, *told.gaps})))


def _listed(side: object) -> list[Any]:
    messages = side.get("messages") if isinstance(side, Mapping) else None
    return messages if isinstance(messages, list) else []


def _messages(message: object, default: Role) -> list[Any]:
    """The message, or those that its content holds: it may be a message list, or an entity's input, in itself."""
    role, content = _content(message)
    inner = decode(content)
    if isinstance(inner, (Mapping, list)) and not _is_blocks(inner):
        items = input_items(inner) if default is Role.USER else output_items(inner)
        if items:
            return items
    return [{"role": role or default.value, "content": inner if _is_blocks(inner) else content}]


def _content(message: object) -> tuple[str | None, object]:
    """Role and content, out of the object that span events' attributes make (`content` or `message`, and the role)."""
    if not isinstance(message, Mapping):
        return None, message
    role, content = as_str(message.get("role")), message.get("content")
    inner = decode(content)
    if isinstance(inner, Mapping) and "type" not in inner:
        for key in ("content", "message"):
            if isinstance(inner.get(key), (str, list)):
                return as_str(inner.get("role")) or role, inner[key]
    return role, content


def _is_blocks(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) and "role" not in item for item in value)
