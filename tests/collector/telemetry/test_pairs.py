"""Attributes read from raw pairs are those that protobuf's own classes read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from collector.errors import MalformedRequestError
from collector.telemetry.anyvalue import attributes_of
from collector.telemetry.pairs import AttributePairs

values = st.recursive(
    st.one_of(
        st.just(AnyValue()),
        st.builds(AnyValue, string_value=st.text(max_size=300)),
        st.builds(AnyValue, bool_value=st.booleans()),
        st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
        st.builds(AnyValue, double_value=st.floats(allow_nan=False)),
        st.builds(AnyValue, bytes_value=st.binary(max_size=20)),
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda found: AnyValue(array_value={"values": found})),
    max_leaves=4,
)
pairs = st.builds(KeyValue, key=st.text(max_size=200), value=values)


@settings(max_examples=500, deadline=None)
@given(st.lists(pairs, max_size=6))
def test_every_pair_is_read_as_protobuf_reads_it(sent) -> None:
    memory = AttributePairs(max_bytes=2000)
    raws = [pair.SerializeToString() for pair in sent]

    for _ in range(3):
        assert memory.attributes(raws) == attributes_of(sent)


@settings(max_examples=500, deadline=None)
@given(pairs, st.data())
def test_damaged_pairs_are_read_or_refused_as_by_protobuf(pair, data) -> None:
    raw = bytearray(pair.SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])

    try:
        expected = attributes_of([KeyValue.FromString(cut)])
    except Exception:  # noqa: BLE001 - protobuf refuses it: text that is no UTF-8 is repaired, anything else is refused
        expected = None
    try:
        found = AttributePairs().attributes([cut])
    except MalformedRequestError:
        found = None

    assert expected is None or repr(found) == repr(expected)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 70_000], ids=str)
def test_texts_of_every_length_are_read(size: int) -> None:
    pair = KeyValue(key="k", value=AnyValue(string_value="é" * (size // 2) + "a" * (size % 2)))

    assert AttributePairs().attributes([pair.SerializeToString()]) == attributes_of([pair])


def test_a_truth_is_no_number() -> None:
    pair = KeyValue(key="k", value=AnyValue(bool_value=True))

    assert AttributePairs().attributes([pair.SerializeToString()])["k"] is True
