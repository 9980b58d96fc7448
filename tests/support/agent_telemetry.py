"""What an instrumented agent sends by the GenAI semantic conventions: turns of spans, the whole history replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

START_NS = 1_790_000_000_000_000_000
SECOND_NS = 1_000_000_000


@dataclass
class AgentTelemetry:
    """One conversation of one agent; each call of `turn` is a trace: agent, model call, tool, model call."""

    conversation_id: str | None = "conversation-1"
    name: str = "conversation-1"
    agent: str = "robin"
    system: str = "You help people with their orders."
    history: list[dict[str, object]] = field(default_factory=list)
    turns: int = 0

    def turn(self, user: str, *, answer: str | None = None, with_agent: bool = True) -> list[Span]:
        """Children first, as they are sent."""
        number, self.turns = self.turns, self.turns + 1
        trace = _id(f"{self.name}/{number}", 16)
        start = START_NS + number * 60 * SECOND_NS
        call_id = f"call_{self.name}_{number}"
        said = {"role": "user", "parts": [{"type": "text", "content": user}]}
        arguments = {"order": user}
        call = {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": call_id, "name": "get_order", "arguments": arguments}],
        }
        result = f"order of {user}: sent"
        returned = {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}
        replied = {"role": "assistant", "parts": [{"type": "text", "content": answer or f"About {user}: it was sent."}]}
        root = _id(f"{self.name}/{number}/agent", 8) if with_agent else b""
        first = self._span(trace, f"{number}/first", parent=root, start=start + 1, end=start + SECOND_NS)
        self._chat(first, [*self.history, said], call)
        tool = self._span(trace, f"{number}/tool", parent=root, start=start + SECOND_NS, end=start + 2 * SECOND_NS)
        _set(
            tool,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_order",
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.call.arguments": json.dumps(arguments),
                "gen_ai.tool.call.result": json.dumps(result),
                **self._ids(),
            },
        )
        second = self._span(
            trace, f"{number}/second", parent=root, start=start + 2 * SECOND_NS, end=start + 3 * SECOND_NS
        )
        self._chat(second, [*self.history, said, call, returned], replied)
        self.history += [said, call, returned, replied]
        spans = [first, tool, second]
        if with_agent:
            agent = Span(
                trace_id=trace,
                span_id=root,
                name=f"invoke_agent {self.agent}",
                kind=Span.SPAN_KIND_INTERNAL,
                start_time_unix_nano=start,
                end_time_unix_nano=start + 4 * SECOND_NS,
            )
            _set(agent, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self.agent, **self._ids()})
            spans.append(agent)
        return spans

    def _chat(self, span: Span, sent: Sequence[object], given: object) -> None:
        _set(
            span,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "model-1",
                "gen_ai.response.id": span.span_id.hex(),
                "gen_ai.agent.name": self.agent,
                "gen_ai.system_instructions": json.dumps([{"type": "text", "content": self.system}]),
                "gen_ai.input.messages": json.dumps(sent),
                "gen_ai.output.messages": json.dumps([given]),
                **self._ids(),
            },
        )

    def _ids(self) -> dict[str, str]:
        return {} if self.conversation_id is None else {"gen_ai.conversation.id": self.conversation_id}

    def _span(self, trace: bytes, name: str, *, parent: bytes, start: int, end: int) -> Span:
        return Span(
            trace_id=trace,
            span_id=_id(f"{self.name}/{name}", 8),
            parent_span_id=parent,
            name=name,
            kind=Span.SPAN_KIND_CLIENT,
            start_time_unix_nano=start,
            end_time_unix_nano=end,
        )


def unrelated_span(trace: bytes, name: str, *, parent: bytes = b"") -> Span:
    """An HTTP call of the same service."""
    span = Span(
        trace_id=trace,
        span_id=_id(name, 8),
        parent_span_id=parent,
        name="GET /orders",
        kind=Span.SPAN_KIND_SERVER,
        start_time_unix_nano=START_NS,
        end_time_unix_nano=START_NS + SECOND_NS,
    )
    _set(span, {"http.request.method": "GET", "url.path": "/orders"})
    return span


def trace_body(spans: Iterable[Span], *, service: str = "shop", scope: str = "test") -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = service
    scope_group = group.scope_spans.add()
    scope_group.scope.name = scope
    scope_group.spans.extend(spans)
    return request.SerializeToString()


def log_body(event_name: str, attributes: dict[str, str], *, service: str = "shop", scope: str = "test") -> bytes:
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.add(key="service.name").value.string_value = service
    scope_group = group.scope_logs.add()
    scope_group.scope.name = scope
    record = LogRecord(event_name=event_name, time_unix_nano=START_NS)
    for key, value in attributes.items():
        record.attributes.add(key=key).value.string_value = value
    scope_group.log_records.append(record)
    return request.SerializeToString()


def _set(span: Span, attributes: dict[str, str]) -> None:
    for key, value in attributes.items():
        span.attributes.add(key=key).value.string_value = value


def _id(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
