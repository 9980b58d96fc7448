"""Protobuf to JSON to protobuf to records, for everything that OTLP allows; and nothing but refusals for noise."""

from __future__ import annotations

import math
from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.errors import MalformedRequestError
from collector.telemetry.decode import decode_traces
from collector.telemetry.json_decode import json_to_protobuf
from collector.telemetry.json_encode import protobuf_to_json
from collector.telemetry.records import Signal
from collector.telemetry.validate import validate
from tests.support.otlp_requests import span, trace_request
from tests.support.telemetry_strategies import any_values


def _plain(value):
    """What a protobuf value means, written down once more and without the code under test."""
    match value.WhichOneof("value"):
        case None:
            return None
        case "array_value":
            return [_plain(item) for item in value.array_value.values]
        case "kvlist_value":
            return {pair.key: _plain(pair.value) for pair in value.kvlist_value.values}
        case "double_value":
            return "NaN" if math.isnan(value.double_value) else value.double_value
        case case:
            return getattr(value, case)


def _comparable(value):
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case list():
            return [_comparable(item) for item in value]
        case dict():
            return {key: _comparable(item) for key, item in value.items()}
        case _:
            return value


@settings(max_examples=300, deadline=None)
@given(any_values)
def test_every_value_is_accepted_and_means_the_same_on_every_way(value):
    sent = span()
    sent.attributes.add(key="v").value.CopyFrom(value)
    body = trace_request(sent)

    back = json_to_protobuf(Signal.TRACES, protobuf_to_json(Signal.TRACES, body))

    assert validate(Signal.TRACES, body) == 1
    assert _comparable(decode_traces(body)[0].attributes["v"]) == _plain(value)
    assert _comparable(decode_traces(back)[0].attributes["v"]) == _plain(value)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
@example(b"\x0a\x00")
@example(b"\x0b" * 100)
def test_noise_is_refused_or_read_but_raises_nothing_else(noise):
    with suppress(MalformedRequestError):
        validate(Signal.TRACES, noise)
    with suppress(MalformedRequestError):
        decode_traces(noise)
    with suppress(MalformedRequestError):
        json_to_protobuf(Signal.TRACES, noise)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_acknowledged_can_be_read(data):
    body = bytearray(trace_request(span(text="some text"), span()))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))

    with suppress(MalformedRequestError):
        count = validate(Signal.TRACES, bytes(body))
        assert len(decode_traces(bytes(body))) == count


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["resourceSpans", "scopeSpans", "spans", "attributes", "value", "key", "kind", "traceId"]),
            children,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@settings(max_examples=200, deadline=None)
@given(_json)
def test_json_of_any_shape_is_refused_or_read(document):
    import orjson

    with suppress(TypeError):
        text = orjson.dumps(document)
        with suppress(MalformedRequestError):
            validate(Signal.TRACES, json_to_protobuf(Signal.TRACES, text))
