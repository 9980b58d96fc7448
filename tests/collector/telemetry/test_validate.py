"""What is refused before it is acknowledged."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import MalformedRequestError, RequestTooLargeError
from collector.telemetry import density
from collector.telemetry.records import Signal
from collector.telemetry.validate import validate
from tests.support.otlp_requests import (
    REQUESTS,
    nested,
    nested_bytes,
    span,
    trace_request,
    trace_request_with_value,
)


@pytest.mark.parametrize("signal", Signal)
def test_items_are_counted(signal):
    assert validate(signal, REQUESTS[signal] * 3) == 3


def test_an_empty_request_holds_nothing():
    assert validate(Signal.TRACES, b"") == 0


def _in_attribute(value):
    one = span()
    one.attributes.add(key="v").value.CopyFrom(value)
    return Signal.TRACES, trace_request(one)


def _in_event(value):
    one = span()
    one.events.add().attributes.add(key="v").value.CopyFrom(value)
    return Signal.TRACES, trace_request(one)


def _in_resource(value):
    request = ExportTraceServiceRequest()
    request.resource_spans.add().resource.attributes.add(key="v").value.CopyFrom(value)
    return Signal.TRACES, request.SerializeToString()


def _in_scope(value):
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().scope.attributes.add(key="v").value.CopyFrom(value)
    return Signal.TRACES, request.SerializeToString()


def _in_body(value):
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add().body.CopyFrom(value)
    return Signal.LOGS, request.SerializeToString()


@pytest.mark.parametrize("place", [_in_attribute, _in_event, _in_resource, _in_scope, _in_body])
@pytest.mark.parametrize("pattern", ["a", "k", "ak"], ids=["arrays", "maps", "mixed"])
def test_depth_is_exact_wherever_a_value_stands(place, pattern):
    # Protobuf's own classes write at most 30 maps inside a request; the limit itself is met with arrays.
    most = {"a": 32, "k": 30, "ak": 32}[pattern]
    validate(*place(nested(most, pattern=pattern)))

    with pytest.raises(MalformedRequestError):
        validate(*place(nested(33, pattern="a")))


@pytest.mark.parametrize("depth", [33, 47, 60, 100, 1000, 20_000])
def test_deeper_values_never_raise_anything_else(depth):
    with pytest.raises(MalformedRequestError):
        validate(Signal.TRACES, trace_request_with_value(nested_bytes(depth)))


@pytest.mark.parametrize("pattern", ["a", "k", "ak"], ids=["arrays", "maps", "mixed"])
def test_the_limit_is_32_for_every_kind_of_container(pattern):
    assert validate(Signal.TRACES, trace_request_with_value(nested_bytes(32, pattern=pattern))) == 1

    with pytest.raises(MalformedRequestError, match="deeper than 32"):
        validate(Signal.TRACES, trace_request_with_value(nested_bytes(33, pattern=pattern)))


def test_a_value_broken_inside_a_span_is_found():
    with pytest.raises(MalformedRequestError, match="span"):
        validate(Signal.TRACES, trace_request_with_value(b"\x2a\x05\x0a\x7f"))


def test_text_that_is_no_utf8_passes():
    assert validate(Signal.TRACES, trace_request(span(text="ab~cd")).replace(b"~", b"\xff")) == 1


def test_a_request_of_millions_of_empty_spans_is_refused_before_it_is_parsed():
    body = b"\x12\x00" * (9 << 20)

    with pytest.raises(RequestTooLargeError):
        density.check_protobuf(Signal.TRACES, body)


@pytest.mark.parametrize("group", [b"\x0a\x00", b"\x0a\x02\x12\x00"], ids=["resources", "scopes"])
def test_a_request_of_too_many_groups_is_refused(group):
    validate(Signal.TRACES, group * 25_000)

    with pytest.raises(RequestTooLargeError, match="resources and scopes"):
        validate(Signal.TRACES, group * 50_001)


def test_a_big_request_of_real_spans_is_not_dense():
    body = trace_request(*[span(text="The order was shipped, 2 items.\n" * 32)] * 9000)
    assert len(body) > 8 << 20

    density.check_protobuf(Signal.TRACES, body)


def test_json_of_millions_of_values_is_refused_before_it_is_parsed():
    with pytest.raises(RequestTooLargeError):
        density.check_json(b"[" + b"[]," * (4 << 20) + b"[]]")
