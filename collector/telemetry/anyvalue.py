"""A parsed protobuf `AnyValue` to plain Python.

An empty value is None; of equal keys the last one counts. Depth is capped at `MAX_DEPTH`, below protobuf's own limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector.errors import MalformedRequestError
from collector.telemetry.records import AttributeValue

MAX_DEPTH = 32
"""Arrays and key-value lists inside each other in one attribute value or log body."""


def too_deep(what: str) -> MalformedRequestError:
    return MalformedRequestError(
        f"The {what} nests values deeper than {MAX_DEPTH} levels; flatten them or send them as a JSON string."
    )


def attributes_of(pairs: Iterable[Any], *, depth: int = 0) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {}
    for pair in pairs:
        value = pair.value
        # Nearly every value is a text, and asking for the case of a oneof costs more than reading one.
        attributes[pair.key] = value.string_value or value_of(value, depth=depth)
    return attributes


def value_of(value: Any, *, depth: int = 0) -> AttributeValue:
    match value.WhichOneof("value"):
        case "array_value":
            _check(depth)
            return [value_of(item, depth=depth + 1) for item in value.array_value.values]
        case "kvlist_value":
            _check(depth)
            return attributes_of(value.kvlist_value.values, depth=depth + 1)
        case "string_value" | "bool_value" | "int_value" | "double_value" | "bytes_value" as case:
            scalar: AttributeValue = getattr(value, case)
            return scalar
        case _:
            # Nothing set, or a case that this version of OTLP does not know (string tables belong to profiles only).
            return None


def _check(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise too_deep("attribute or body")
