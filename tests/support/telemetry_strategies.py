"""Hypothesis strategies for everything that OTLP allows as an attribute value, as protobuf messages."""

from __future__ import annotations

from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

# Protobuf text is UTF-8, which has no surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

_leaves = st.one_of(
    st.just(AnyValue()),
    texts.map(lambda text: AnyValue(string_value=text)),
    st.booleans().map(lambda value: AnyValue(bool_value=value)),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: AnyValue(int_value=number)),
    st.floats().map(lambda number: AnyValue(double_value=number)),
    st.binary(max_size=20).map(lambda raw: AnyValue(bytes_value=raw)),
)


def _containers(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[AnyValue]:
    pairs = st.builds(lambda key, value: KeyValue(key=key, value=value), texts, values)
    return st.one_of(
        st.lists(values, max_size=4).map(lambda items: AnyValue(array_value=ArrayValue(values=items))),
        st.lists(pairs, max_size=4).map(lambda items: AnyValue(kvlist_value=KeyValueList(values=items))),
    )


any_values = st.recursive(_leaves, _containers, max_leaves=12)
