"""A parsed `AnyValue` of `collector.telemetry.wire` to plain Python.

The wire schema bounds the depth, so recursion here is at most `wire.MAX_DEPTH` levels. An empty value is None; of equal
keys the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector.telemetry.records import AttributeValue


def text_of(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def attributes_of(pairs: Iterable[Any]) -> dict[str, AttributeValue]:
    return {pair.key.decode("utf-8", "replace"): value_of(pair.value) for pair in pairs}


def value_of(value: Any) -> AttributeValue:
    text: bytes = value.string_value
    if text:
        # Nearly every value is a text, and asking for the case of a oneof costs more than reading one.
        return text.decode("utf-8", "replace")
    match value.WhichOneof("value"):
        case "string_value":
            return ""
        case "array_value":
            return [value_of(item) for item in value.array_value.values]
        case "kvlist_value":
            return attributes_of(value.kvlist_value.values)
        case "bool_value" | "int_value" | "double_value" | "bytes_value" as case:
            scalar: AttributeValue = getattr(value, case)
            return scalar
        case _:
            # Nothing set, or a case that this version of OTLP does not know (string tables belong to profiles only).
            return None
