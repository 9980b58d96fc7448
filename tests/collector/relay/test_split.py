from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import MalformedRequestError
from collector.relay.split import halves
from tests.collector.relay.requests import log_request, metric_request, span_names, trace_request


def flattened(body):
    """Every span with where it comes from, as bytes."""
    return Counter(
        (
            resource.resource.SerializeToString(),
            resource.schema_url,
            scope.scope.SerializeToString(),
            scope.schema_url,
            span.SerializeToString(),
        )
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    )


def build(shape):
    """`shape`: resources of scopes of span sizes."""
    request = ExportTraceServiceRequest()
    for r, scopes in enumerate(shape):
        resource = request.resource_spans.add(schema_url=f"r{r}")
        resource.resource.attributes.add(key="service.name").value.string_value = f"service {r}"
        for s, sizes in enumerate(scopes):
            scope = resource.scope_spans.add(schema_url=f"s{s}")
            scope.scope.name = f"scope {s}"
            for n, size in enumerate(sizes):
                scope.spans.add(name="x" * size, trace_state=f"{r} {s} {n}")
    return request.SerializeToString()


def leaves(body):
    cut = halves(body)
    return [body] if cut is None else [leaf for half in cut for leaf in leaves(half)]


shapes = st.lists(
    st.lists(st.lists(st.integers(0, 300), min_size=1, max_size=6), min_size=1, max_size=3), min_size=1, max_size=3
)


@given(shapes)
def test_halves_hold_every_span_once_with_its_resource_and_scope(shape):
    body = build(shape)

    cut = halves(body)

    spans = sum(len(sizes) for scopes in shape for sizes in scopes)
    if spans == 1:
        assert cut is None
    else:
        assert flattened(cut[0]) + flattened(cut[1]) == flattened(body)
        assert len(cut[0]) < len(body)
        assert len(cut[1]) < len(body)


@given(shapes)
def test_cutting_goes_down_to_single_spans(shape):
    body = build(shape)

    parts = leaves(body)

    assert [len(span_names(part)) for part in parts] == [1] * len(span_names(body))
    assert sum((flattened(part) for part in parts), Counter()) == flattened(body)


@pytest.mark.parametrize(
    "body",
    [log_request("a", "b"), metric_request("a", "b"), trace_request("a", "b")],
    ids=["logs", "metrics", "traces"],
)
def test_every_signal_is_cut(body):
    first, second = halves(body)

    assert {len(first), len(second)} < set(range(len(body)))


def test_the_cut_is_near_the_middle_in_bytes():
    body = build([[[10_000, 10, 10, 10]]])

    first, second = halves(body)

    assert [len(name) for name in span_names(first)] == [10_000]
    assert [len(name) for name in span_names(second)] == [10, 10, 10]


def test_fields_that_are_not_known_stay_in_both_halves():
    unknown = bytes([0xF8, 0x07, 0x05])  # field 127, varint 5

    first, second = halves(trace_request("a", "b") + unknown)

    assert first.endswith(unknown)
    assert second.endswith(unknown)


@pytest.mark.parametrize("body", [b"", b"\x0a\x00"], ids=["empty", "one_empty_resource"])
def test_what_holds_nothing_is_not_cut(body):
    assert halves(body) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(trace_request("a", "b")[:-1], id="cut_off"),
        pytest.param(b"\x0b\x00", id="group"),
        pytest.param(b"\x0a" + b"\xff" * 11, id="endless_number"),
        pytest.param(b"\x0d\x00", id="fixed32_cut_off"),
    ],
)
def test_what_is_no_protobuf_is_malformed(body):
    with pytest.raises(MalformedRequestError):
        halves(body)
