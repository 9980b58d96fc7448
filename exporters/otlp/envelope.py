"""What surrounds every record that we send: resource, scope, and values in protobuf form.

Grouping and order are functions of the verdicts alone, so that the same verdicts give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from exporters.otlp.attributes import AttributeValue
from exporters.text import clean_line

SCOPE_NAME = "adhere.evaluation"
UNKNOWN_SERVICE = "unknown_service"
"""What the conventions name where nobody said which service it is."""

T = TypeVar("T")


def by_service(items: Iterable[T], service: Callable[[T], str | None]) -> list[tuple[str, list[T]]]:
    """Groups in order of their first item."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(service(item) or UNKNOWN_SERVICE, []).append(item)
    return list(groups.items())


def resource(service: str, **more: AttributeValue) -> Resource:
    """The judged service: its scores belong beside its telemetry."""
    return Resource(attributes=key_values({"service.name": clean_line(service, max_chars=256), **more}))


def scope(version: str) -> InstrumentationScope:
    return InstrumentationScope(name=SCOPE_NAME, version=version)


def key_values(attributes: Mapping[str, AttributeValue]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any_value(value)) for key, value in attributes.items()]


def binary_id(text: str, *, size: int) -> bytes:
    """A trace or span id from hex; b"" where it is none (wrong length, not hex, all zero)."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return b""
    return found if len(found) == size and any(found) else b""


def _any_value(value: AttributeValue) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
