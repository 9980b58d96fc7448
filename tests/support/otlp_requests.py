"""Small OTLP requests for tests, as protobuf bytes."""

from __future__ import annotations

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.telemetry.records import Signal

TRACE_ID = bytes(range(16))
SPAN_ID = bytes(range(8))


def trace_request(*spans: Span, padding: int = 0) -> bytes:
    """Spans of one scope; without any, one small span with `padding` bytes of text in an attribute."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    scope = group.scope_spans.add()
    scope.scope.name = "test"
    scope.spans.extend(spans or (span(text="x" * padding),))
    return request.SerializeToString()


def span(*, text: str = "") -> Span:
    found = Span(trace_id=TRACE_ID, span_id=SPAN_ID, name="chat", start_time_unix_nano=1, end_time_unix_nano=2)
    found.attributes.add(key="text").value.string_value = text
    return found


def log_request() -> bytes:
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=5, event_name="an.event")
    record.body.string_value = "text"
    return request.SerializeToString()


def metric_request() -> bytes:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="count")
    metric.sum.data_points.add(as_int=3)
    return request.SerializeToString()


REQUESTS = {Signal.TRACES: trace_request(), Signal.LOGS: log_request(), Signal.METRICS: metric_request()}


def nested(depth: int, *, pattern: str) -> AnyValue:
    """A text inside `depth` containers: arrays for each "a" of the repeated pattern, maps for each "k"."""
    value = AnyValue(string_value="deep")
    for level in range(depth):
        outer = AnyValue()
        if pattern[level % len(pattern)] == "a":
            outer.array_value.values.append(value)
        else:
            outer.kvlist_value.values.append(KeyValue(key="k", value=value))
        value = outer
    return value


def nested_bytes(depth: int, *, pattern: str = "a") -> bytes:
    """The same as bytes, of any depth: far beyond what protobuf's own classes can write."""
    value = b"\x0a\x01x"
    for level in range(depth):
        if pattern[level % len(pattern)] == "a":
            value = _delimited(b"\x2a", _delimited(b"\x0a", value))
        else:
            pair = _delimited(b"\x0a", b"k") + _delimited(b"\x12", value)
            value = _delimited(b"\x32", _delimited(b"\x0a", pair))
    return value


def trace_request_with_value(value: bytes) -> bytes:
    """A request whose one span has one attribute with these bytes as its value."""
    attribute = _delimited(b"\x0a", b"k") + _delimited(b"\x12", value)
    one_span = _delimited(b"\x0a", TRACE_ID) + _delimited(b"\x12", SPAN_ID) + _delimited(b"\x4a", attribute)
    return _delimited(b"\x0a", _delimited(b"\x12", _delimited(b"\x12", one_span)))


def _delimited(tag: bytes, value: bytes) -> bytes:
    length, size = b"", len(value)
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return tag + length + bytes([size]) + value
