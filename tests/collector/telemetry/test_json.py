"""OTLP/JSON by the rules of the specification."""

from __future__ import annotations

import base64
import json

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import MalformedRequestError
from collector.telemetry.decode import decode_logs, decode_traces
from collector.telemetry.json_decode import json_to_protobuf
from collector.telemetry.json_encode import protobuf_to_json
from collector.telemetry.records import Signal
from tests.support.otlp_requests import REQUESTS, SPAN_ID, TRACE_ID, nested_bytes, span, trace_request
from tests.support.otlp_requests import trace_request_with_value as with_value


def _spans(**fields):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [fields]}]}]}).encode()


def _span(**fields):
    (found,) = decode_traces(json_to_protobuf(Signal.TRACES, _spans(**fields)))
    return found


def _attribute(value):
    return _span(attributes=[{"key": "v", "value": value}]).attributes["v"]


def test_a_request_as_the_specification_shows_it():
    text = b"""{"resourceSpans": [{
      "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "my.service"}}]},
      "scopeSpans": [{
        "scope": {"name": "my.library", "version": "1.0.0",
                  "attributes": [{"key": "my.scope.attribute", "value": {"stringValue": "some scope attribute"}}]},
        "spans": [{
          "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174",
          "parentSpanId": "eee19b7ec3c1b173", "name": "I'm a server span",
          "startTimeUnixNano": "1544712660000000000", "endTimeUnixNano": 1544712661000000000,
          "kind": 2, "status": {"code": 1}, "traceState": "", "flags": 257,
          "attributes": [{"key": "my.span.attr", "value": {"stringValue": "some value"}}]
        }]}]}]}"""

    (found,) = decode_traces(json_to_protobuf(Signal.TRACES, text))

    assert found.trace_id == "5b8efff798038103d269b633813fc60c"
    assert (found.span_id, found.parent_span_id) == ("eee19b7ec3c1b174", "eee19b7ec3c1b173")
    assert (found.start_ns, found.end_ns) == (1544712660000000000, 1544712661000000000)
    assert (found.kind, found.status, found.name) == (2, 1, "I'm a server span")
    assert (found.resource.service_name, found.scope.version) == ("my.service", "1.0.0")
    assert found.scope.attributes == {"my.scope.attribute": "some scope attribute"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, None),
        ({"stringValue": ""}, ""),
        ({"boolValue": False}, False),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": 42}, 42),
        ({"intValue": 42.0}, 42),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "-1.5e3"}, -1500.0),
        ({"doubleValue": "Infinity"}, float("inf")),
        ({"bytesValue": "AP8="}, b"\x00\xff"),
        ({"bytesValue": "-_8"}, b"\xfb\xff"),
        ({"arrayValue": {"values": [{"intValue": 1}, {}]}}, [1, None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
        ({"unknownValue": {"a": [1]}}, None),
        ({"string_value": "as protobuf names it"}, "as protobuf names it"),
        ({"stringValue": None}, None),
    ],
    ids=str,
)
def test_values(value, expected):
    assert _attribute(value) == expected


def test_unknown_fields_are_ignored():
    assert _span(name="chat", futureField={"deep": [[[]]]}, starttime=5).start_ns == 0


def test_ids_in_base64_are_told_by_their_length():
    found = _span(traceId=base64.b64encode(TRACE_ID).decode(), spanId=base64.b64encode(SPAN_ID).decode())

    assert (found.trace_id, found.span_id) == (TRACE_ID.hex(), SPAN_ID.hex())


def test_protobufs_own_json_form_says_the_same():
    own = json_to_protobuf(
        Signal.TRACES,
        b'{"resource_spans":[{"schema_url":"u","scope_spans":[{"spans":[{"name":"chat","kind":"SPAN_KIND_CLIENT",'
        b'"start_time_unix_nano":"5","status":{"code":"STATUS_CODE_ERROR"}}]}]}]}',
    )
    otlp = json_to_protobuf(
        Signal.TRACES,
        b'{"resourceSpans":[{"schemaUrl":"u","scopeSpans":[{"spans":[{"name":"chat","kind":3,'
        b'"startTimeUnixNano":"5","status":{"code":2}}]}]}]}',
    )

    assert own == otlp


def test_event_names_of_logs():
    text = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"an.event","body":{"stringValue":"x"}}]}]}]}'

    (found,) = decode_logs(json_to_protobuf(Signal.LOGS, text))

    assert (found.event_name, found.body) == ("an.event", "x")


def test_metrics_are_converted_though_nobody_reads_them():
    text = (
        b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"aggregationTemporality":2,'
        b'"isMonotonic":true,"dataPoints":[{"asInt":"3","timeUnixNano":"7"}]}}]}]}]}'
    )

    request = ExportMetricsServiceRequest.FromString(json_to_protobuf(Signal.METRICS, text))

    metric = request.resource_metrics[0].scope_metrics[0].metrics[0]
    assert (metric.sum.data_points[0].as_int, metric.sum.aggregation_temporality) == (3, 2)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"kind": "SPAN_KIND_OF_NOBODY"}, "kind"),
        ({"kind": 2**31}, "kind"),
        ({"kind": True}, "kind"),
        ({"name": 7}, "name"),
        ({"startTimeUnixNano": -1}, "startTimeUnixNano"),
        ({"startTimeUnixNano": "1_000"}, "startTimeUnixNano"),
        ({"startTimeUnixNano": "9" * 5000}, "startTimeUnixNano"),
        ({"startTimeUnixNano": 1.5}, "startTimeUnixNano"),
        ({"traceId": "abc"}, "traceId"),
        ({"traceId": "zz" * 16}, "traceId"),
        ({"attributes": {}}, "attributes"),
        ({"attributes": [3]}, "attributes[0]"),
        ({"attributes": [{"key": "k", "value": {"boolValue": "true"}}]}, "attributes[0].value.boolValue"),
        ({"attributes": [{"key": "k", "value": {"bytesValue": "*"}}]}, "attributes[0].value.bytesValue"),
        ({"attributes": [{"key": "k", "value": {"doubleValue": "1_0"}}]}, "attributes[0].value.doubleValue"),
        ({"status": {"code": 1.5}}, "status.code"),
    ],
    ids=str,
)
def test_a_broken_rule_is_named_by_its_path_and_never_by_its_content(fields, path):
    with pytest.raises(MalformedRequestError) as caught:
        json_to_protobuf(Signal.TRACES, _spans(**fields))

    message = str(caught.value)
    assert f"resourceSpans[0].scopeSpans[0].spans[0].{path} " in message
    assert "SPAN_KIND" not in message
    assert "1_0" not in message


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"3",
        b'{"resourceSpans":{}}',
        b'{"resourceSpans":[3]}',
        b'{"resourceSpans":[{"resource":3}]}',
        b'{"resourceSpans":[{"schemaUrl":3}]}',
        b"\xff{}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"1" * 100_000 + b"x",
    ],
    ids=lambda text: text[:30].decode("latin-1"),
)
def test_what_is_no_request_is_malformed(text):
    with pytest.raises(MalformedRequestError):
        json_to_protobuf(Signal.TRACES, text)


def _nested_value(depth, *, pattern):
    value = {"stringValue": "deep"}
    for level in range(depth):
        if pattern[level % len(pattern)] == "a":
            value = {"arrayValue": {"values": [value]}}
        else:
            value = {"kvlistValue": {"values": [{"key": "k", "value": value}]}}
    return value


@pytest.mark.parametrize("pattern", ["a", "k", "ak"], ids=["arrays", "maps", "mixed"])
def test_values_nest_up_to_32_containers(pattern):
    assert _attribute(_nested_value(32, pattern=pattern))

    with pytest.raises(MalformedRequestError, match="deeper than 32"):
        _attribute(_nested_value(33, pattern=pattern))


@pytest.mark.parametrize("pattern", ["a", "k", "ak"], ids=["arrays", "maps", "mixed"])
def test_the_deepest_values_survive_the_way_to_json_and_back(pattern):
    body = with_value(nested_bytes(32, pattern=pattern))

    assert decode_traces(json_to_protobuf(Signal.TRACES, protobuf_to_json(Signal.TRACES, body))) == decode_traces(body)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_kept():
    text = _spans(name="NAME").replace(b"NAME", rb"a\ud83d b\ud83d\ude00 c\\ud83d \ude00")

    (found,) = decode_traces(json_to_protobuf(Signal.TRACES, text))

    assert found.name == "a� b\U0001f600 c\\ud83d �"


@pytest.mark.parametrize("signal", Signal)
def test_every_signal_survives_the_way_to_json_and_back(signal):
    text = protobuf_to_json(signal, REQUESTS[signal])

    assert json_to_protobuf(signal, text) == REQUESTS[signal]
    assert b"\n" not in text


def test_ids_are_hex_and_large_numbers_are_strings_in_json():
    text = protobuf_to_json(Signal.TRACES, REQUESTS[Signal.TRACES])

    found = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert (found["traceId"], found["startTimeUnixNano"]) == (TRACE_ID.hex(), "1")


def test_schema_urls_and_empty_parts_survive():
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add(schema_url="https://opentelemetry.io/schemas/1.27.0")
    group.resource.SetInParent()
    group.scope_spans.add(schema_url="other")
    body = request.SerializeToString()

    assert json_to_protobuf(Signal.TRACES, protobuf_to_json(Signal.TRACES, body)) == body


def test_text_that_is_no_utf8_is_replaced_in_json():
    text = protobuf_to_json(Signal.TRACES, trace_request(span(text="ab~cd")).replace(b"~", b"\xff"))

    assert "ab�cd" in text.decode()
