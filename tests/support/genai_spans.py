"""Spans and log records as instrumentations send them, short to write, and what the product makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from collector.assembly.merge import merge
from collector.assembly.reconstruct import conversations_of
from collector.dialects.registry import read_log, read_span
from collector.messages.decoder import MessageDecoder
from collector.model import Conversation
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Resource, Scope, Span, SpanEvent, StatusCode

MS = 1_000_000
T0 = 1_700_000_000_000_000_000


def span(
    span_id: str,
    attributes: Mapping[str, Any],
    *,
    at: int = 0,
    lasts: int = 1,
    trace: str = "t1",
    parent: str = "",
    name: str = "",
    service: str = "shop",
    scope: str = "test.scope",
    error: bool = False,
    events: Sequence[SpanEvent] = (),
    dropped: int = 0,
) -> Span:
    """`at` and `lasts` are milliseconds; ids are short names."""
    return Span(
        trace_id=_hex(trace, 32),
        span_id=_hex(span_id, 16),
        parent_span_id=_hex(parent, 16) if parent else "",
        name=name or span_id,
        kind=1,
        start_ns=T0 + at * MS,
        end_ns=T0 + (at + lasts) * MS,
        attributes=dict(attributes),
        events=tuple(events),
        links=(),
        status=StatusCode.ERROR if error else StatusCode.UNSET,
        status_message="",
        resource=Resource({"service.name": service, "service.instance.id": "i-1"}),
        scope=Scope(scope, "1", {}),
        dropped_attributes=dropped,
    )


def log(
    event_name: str,
    body: Any,
    *,
    span_id: str,
    at: int = 0,
    trace: str = "t1",
    service: str = "shop",
    attributes: Mapping[str, Any] | None = None,
    position: int = 0,
) -> LogRecord:
    return LogRecord(
        trace_id=_hex(trace, 32),
        span_id=_hex(span_id, 16),
        time_ns=T0 + at * MS,
        event_name=event_name,
        severity_number=9,
        body=body,
        attributes=dict(attributes or {}),
        resource=Resource({"service.name": service}),
        scope=Scope("test.scope", "1", {}),
        position=position,
    )


def chat(
    messages: Sequence[Mapping[str, Any]], answer: Sequence[Mapping[str, Any]] | str | None, **more: Any
) -> dict[str, Any]:
    """Attributes of a model call in the current semantic conventions."""
    given = [says(answer)] if isinstance(answer, str) else answer
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
    attributes["gen_ai.input.messages"] = json.dumps(list(messages))
    if given is not None:
        attributes["gen_ai.output.messages"] = json.dumps(list(given))
    return attributes | more


def agent(name: str, asked: str | None = None, answer: str | None = None, **more: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    if asked is not None:
        attributes["gen_ai.input.messages"] = json.dumps([asks(asked)])
    if answer is not None:
        attributes["gen_ai.output.messages"] = json.dumps([says(answer)])
    return attributes | more


def tool(name: str, arguments: Any = None, result: Any = None, *, call_id: str | None = None) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    if result is not None:
        attributes["gen_ai.tool.call.result"] = json.dumps(result)
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    return attributes


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "parts": [{"type": "text", "content": text}]}


def asks(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def calls(*wanted: tuple[str, str | None, Any]) -> dict[str, Any]:
    """(name, call id, arguments) each."""
    parts = [{"type": "tool_call", "name": n, "id": i, "arguments": a} for n, i, a in wanted]
    return {"role": "assistant", "parts": parts}


def returns(result: Any, call_id: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}


def read_all(items: Iterable[Span | LogRecord], decoder: MessageDecoder | None = None) -> list[Operation]:
    """Merged operations, one a span."""
    decoder = decoder or MessageDecoder()
    found: dict[tuple[str, str], Operation] = {}
    for item in items:
        operation = read_span(item, decoder) if isinstance(item, Span) else read_log(item, decoder)
        if operation is not None:
            key = (operation.trace_id, operation.span_id)
            found[key] = merge((found[key], operation)) if key in found else operation
    return list(found.values())


def rebuild(items: Iterable[Span | LogRecord]) -> list[Conversation]:
    return conversations_of(read_all(items))


def rebuild_one(items: Iterable[Span | LogRecord]) -> Conversation:
    """Where there must be one conversation and no other."""
    (conversation,) = rebuild(items)
    return conversation


def _hex(name: str, width: int) -> str:
    return name.encode().hex().ljust(width, "0")[:width]
