import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.enrich.cutting import cut, with_attributes
from collector.errors import MalformedRequestError
from collector.relay.wire import varint

shapes = st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=3)


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


FUTURE = field(1000, b"new")
"""A field of a later version of OTLP."""


def span(number):
    return field(2, field(5, f"{number}".encode()) + FUTURE)


def resource(number):
    return field(1, field(1, field(1, b"service.name") + field(2, field(1, f"resource {number}".encode()))))


def build(shape):
    """A request of resources of scopes of so many spans, each named by its number, and how many there are."""
    number, groups = 0, []
    for r, scopes in enumerate(shape):
        parts = [resource(r)]
        for s, count in enumerate(scopes):
            spans = b"".join(span(number + index) for index in range(count))
            number += count
            parts.append(field(2, field(1, field(1, f"scope {s}".encode())) + spans + field(3, b"schema") + FUTURE))
        groups.append(field(1, b"".join([*parts, field(3, b"schema"), FUTURE])))
    return b"".join([*groups, FUTURE]), number


def flattened(body):
    """Every span's bytes with the bytes of what it comes under."""
    return [
        (
            group.resource.SerializeToString(),
            group.schema_url,
            one.scope.name,
            one.schema_url,
            found.SerializeToString(),
        )
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for one in group.scope_spans
        for found in one.spans
    ]


@given(shapes, st.data())
def test_each_span_is_in_the_rest_or_alone_with_the_bytes_around_it(shape, data):
    body, count = build(shape)
    chosen = data.draw(st.sets(st.integers(0, count - 1))) if count else set()

    rest, alone = cut(body, chosen)

    whole = flattened(body)
    assert flattened(rest or b"") == [one for index, one in enumerate(whole) if index not in chosen]
    assert [flattened(one) for one in alone] == [[whole[index]] for index in sorted(chosen)]
    assert all(one.count(FUTURE) >= 4 for one in alone), "fields that are not known to us, at each level"
    assert (rest is None) == (bool(chosen) and len(chosen) == count)


def test_what_is_not_cut_keeps_its_bytes():
    body, _ = build([[2, 1], [3]])

    rest, _ = cut(body, {1})

    second = body.index(resource(1))
    assert rest.endswith(body[second:])
    assert rest.count(FUTURE) == body.count(FUTURE) - 1


def test_a_request_without_the_spans_asked_for_is_the_same_object():
    body, _ = build([[2]])

    assert cut(body, {7}) == (body, [])
    assert cut(body, ())[0] is body


def test_attributes_are_added_behind_everything_of_the_span():
    body, _ = build([[1]])

    enriched = with_attributes(body, {"a.score": 0.5, "a.label": "pass"})

    (before,) = ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans
    (after,) = ExportTraceServiceRequest.FromString(enriched).resource_spans[0].scope_spans[0].spans
    added = Span()
    added.attributes.add(key="a.score").value.double_value = 0.5
    added.attributes.add(key="a.label").value.string_value = "pass"
    assert (
        after.SerializeToString()
        == Span.FromString(before.SerializeToString() + added.SerializeToString()).SerializeToString()
    )
    assert field(5, b"0") + FUTURE + added.SerializeToString() in enriched
    assert enriched.endswith(field(3, b"schema") + FUTURE + field(3, b"schema") + FUTURE + FUTURE)


def test_a_key_that_the_span_has_already_stays_as_it_is():
    request = ExportTraceServiceRequest()
    own = request.resource_spans.add().scope_spans.add().spans.add(name="chat")
    own.attributes.add(key="a.score").value.string_value = "mine"

    enriched = ExportTraceServiceRequest.FromString(
        with_attributes(request.SerializeToString(), {"a.score": 0.5, "b.score": 1.0})
    )

    pairs = enriched.resource_spans[0].scope_spans[0].spans[0].attributes
    assert [(pair.key, pair.value.WhichOneof("value")) for pair in pairs] == [
        ("a.score", "string_value"),
        ("b.score", "double_value"),
    ]


@pytest.mark.parametrize("body", [b"\x0a\x05\x01", b"\xff"], ids=["cut off", "no field"])
def test_what_is_no_protobuf_is_said_to_be_none(body):
    with pytest.raises(MalformedRequestError):
        cut(body, {0})
    with pytest.raises(MalformedRequestError):
        with_attributes(body, {"a": 1.0})
