"""One agent span, sent to a backend over OTLP."""

from __future__ import annotations

import time
from collections.abc import Mapping

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span


async def send_span(
    url: str, *, trace_id: str, span_id: str, headers: Mapping[str, str] = {}, conversation_id: str = "conv-1"
) -> None:
    now_ns = time.time_ns()
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": conversation_id}
    span = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id),
        name="invoke_agent refunds",
        kind=Span.SpanKind.SPAN_KIND_INTERNAL,
        start_time_unix_nano=now_ns - 10**9,
        end_time_unix_nano=now_ns,
        attributes=[KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()],
    )
    request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])
    async with httpx2.AsyncClient(timeout=60) as client:
        answer = await client.post(
            f"{url}/v1/traces",
            content=request.SerializeToString(),
            headers={"content-type": "application/x-protobuf", **headers},
        )
    assert answer.is_success, answer.text
