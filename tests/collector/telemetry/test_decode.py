"""OTLP protobuf to spans and log records."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.errors import MalformedRequestError
from collector.telemetry.decode import decode_logs, decode_traces, iter_logs, iter_spans
from collector.telemetry.records import SpanLink, StatusCode
from tests.support.otlp_requests import (
    SPAN_ID,
    TRACE_ID,
    nested_bytes,
    span,
    trace_request,
    trace_request_with_value,
)


def test_every_field_of_a_span_is_read():
    sent = Span(
        trace_id=TRACE_ID,
        span_id=SPAN_ID,
        parent_span_id=b"\x01" * 8,
        name="chat",
        kind=3,
        start_time_unix_nano=10,
        end_time_unix_nano=20,
        dropped_attributes_count=1,
        dropped_events_count=2,
    )
    sent.status.code, sent.status.message = 2, "failed"
    event = sent.events.add(name="exception", time_unix_nano=15, dropped_attributes_count=3)
    event.attributes.add(key="exception.type").value.string_value = "ValueError"
    sent.links.add(trace_id=TRACE_ID, span_id=SPAN_ID)

    (found,) = decode_traces(trace_request(sent))

    assert (found.trace_id, found.span_id, found.parent_span_id) == (TRACE_ID.hex(), SPAN_ID.hex(), "01" * 8)
    assert (found.name, found.kind, found.start_ns, found.end_ns) == ("chat", 3, 10, 20)
    assert (found.dropped_attributes, found.dropped_events) == (1, 2)
    assert (found.status, found.status_message) == (StatusCode.ERROR, "failed")
    assert found.events[0].attributes == {"exception.type": "ValueError"}
    assert (found.events[0].time_ns, found.events[0].dropped_attributes) == (15, 3)
    assert found.links == (SpanLink(TRACE_ID.hex(), SPAN_ID.hex(), {}),)
    assert found.resource.service_name == "shop"
    assert found.scope.name == "test"


def test_every_kind_of_value_is_read():
    sent = span()
    sent.attributes.add(key="empty")
    sent.attributes.add(key="empty text").value.string_value = ""
    sent.attributes.add(key="no").value.bool_value = False
    sent.attributes.add(key="int").value.int_value = -(2**63)
    sent.attributes.add(key="zero").value.double_value = 0.0
    sent.attributes.add(key="bytes").value.bytes_value = b"\x00\xff"
    mixed = sent.attributes.add(key="mixed").value.array_value
    mixed.values.add(int_value=1)
    mixed.values.add()
    mixed.values.add().kvlist_value.values.add(key="k").value.string_value = "v"

    (found,) = decode_traces(trace_request(sent))

    assert found.attributes == {
        "text": "",
        "empty": None,
        "empty text": "",
        "no": False,
        "int": -(2**63),
        "zero": 0.0,
        "bytes": b"\x00\xff",
        "mixed": [1, None, {"k": "v"}],
    }


def test_ids_of_zeros_are_absent():
    (found,) = decode_traces(trace_request(Span(trace_id=bytes(16), span_id=SPAN_ID, parent_span_id=bytes(8))))

    assert (found.trace_id, found.parent_span_id) == ("", "")


def test_equal_resources_and_scopes_are_one_object():
    request = ExportTraceServiceRequest.FromString(trace_request(span(), span()))
    request.resource_spans.add().CopyFrom(request.resource_spans[0])

    spans = decode_traces(request.SerializeToString())

    assert len(spans) == 4
    assert len({id(found.resource) for found in spans}) == 1
    assert len({id(found.scope) for found in spans}) == 1


def test_unwanted_spans_are_never_parsed():
    broken = ExportTraceServiceRequest.FromString(trace_request(span(text="wanted"), span(text="broken")))
    body = broken.SerializeToString().replace(
        b"\x4a\x10\x0a\x04text\x12\x08\x0a\x06broken", b"\x4a\x7f" + b"broken" * 2 + b"brok"
    )

    with pytest.raises(MalformedRequestError, match="span"):
        decode_traces(body)
    found = list(iter_spans(body, wanted=lambda raw: b"wanted" in raw))

    assert [each.attributes["text"] for each in found] == ["wanted"]


def test_text_that_is_no_utf8_is_replaced_and_the_rest_kept():
    body = trace_request(span(text="ab~cd")).replace(b"ab~cd", b"ab\xffcd")

    (found,) = decode_traces(body)

    assert found.attributes == {"text": "ab�cd"}
    assert (found.name, found.trace_id) == ("chat", TRACE_ID.hex())


@pytest.mark.parametrize("pattern", ["a", "k", "ak"], ids=["arrays", "maps", "mixed"])
def test_values_nest_up_to_32_containers(pattern):
    (found,) = decode_traces(trace_request_with_value(nested_bytes(32, pattern=pattern)))

    assert found.attributes["k"]
    with pytest.raises(MalformedRequestError):
        decode_traces(trace_request_with_value(nested_bytes(33, pattern=pattern)))


def test_log_records_keep_their_place_and_name_their_event():
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    records.add(event_name="new", time_unix_nano=5, observed_time_unix_nano=6, severity_number=9)
    old = records.add(observed_time_unix_nano=7, trace_id=TRACE_ID, span_id=SPAN_ID)
    old.attributes.add(key="event.name").value.string_value = "old"
    old.body.kvlist_value.values.add(key="role").value.string_value = "user"
    records.add()

    new, old_found, bare = decode_logs(request.SerializeToString())

    assert (new.event_name, new.time_ns, new.severity_number, new.position) == ("new", 5, 9, 0)
    assert (old_found.event_name, old_found.time_ns, old_found.body) == ("old", 7, {"role": "user"})
    assert (old_found.trace_id, old_found.span_id, old_found.position) == (TRACE_ID.hex(), SPAN_ID.hex(), 1)
    assert (bare.event_name, bare.body, bare.position) == ("", None, 2)


def test_positions_count_unwanted_log_records():
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    records.add(event_name="skipped")
    records.add(event_name="kept")

    (found,) = iter_logs(request.SerializeToString(), wanted=lambda raw: b"kept" in raw)

    assert found.position == 1


@pytest.mark.parametrize("body", [b"\xff" * 40, b"\x0a\x7fcut", b"hello world"], ids=["noise", "cut", "text"])
def test_garbage_is_malformed(body):
    with pytest.raises(MalformedRequestError):
        decode_traces(body)
    with pytest.raises(MalformedRequestError):
        decode_logs(body)
