"""Requests of each signal to send around in these tests."""

from __future__ import annotations

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def trace_request(*names: str, padding: int = 0) -> bytes:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add(schema_url="https://example.com/schema")
    resource.resource.attributes.add(key="service.name").value.string_value = "agent"
    scope = resource.scope_spans.add()
    scope.scope.name = "tests"
    for name in names:
        span = scope.spans.add(name=name)
        if padding:
            span.attributes.add(key="padding").value.string_value = "x" * padding
    return request.SerializeToString()


def log_request(*bodies: str) -> bytes:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for body in bodies:
        scope.log_records.add().body.string_value = body
    return request.SerializeToString()


def metric_request(*names: str) -> bytes:
    request = ExportMetricsServiceRequest()
    scope = request.resource_metrics.add().scope_metrics.add()
    for name in names:
        scope.metrics.add(name=name)
    return request.SerializeToString()


def span_names(body: bytes) -> list[str]:
    request = ExportTraceServiceRequest.FromString(body)
    return [span.name for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]
