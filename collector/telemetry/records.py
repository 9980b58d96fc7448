"""Spans and log records in our own form: what every dialect reads, free of protobuf and JSON classes.

Ids are lower-case hex ("" where absent). Times are nanoseconds since the Unix epoch (0 where absent). Attribute values
are plain Python: None, bool, int, float, str, bytes, list, dict; strings are as sent, JSON inside them is not parsed.
Equal resources and scopes of one request are one shared object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TypeAlias

from collector.frozen import quick

AttributeValue: TypeAlias = (
    "bool | int | float | str | bytes | Sequence[AttributeValue] | Mapping[str, AttributeValue] | None"
)
Attributes: TypeAlias = Mapping[str, AttributeValue]


_PUBLIC_PREFIXES = ("service.", "deployment.", "telemetry.sdk.", "telemetry.distro.", "cloud.region", "host.name")
_MAX_PUBLIC = 512


class Signal(StrEnum):
    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


class StatusCode(IntEnum):
    UNSET = 0
    OK = 1
    ERROR = 2


@dataclass(frozen=True)
class Resource:
    """Without slots, so that what is made of one is made once for all spans that share it."""

    attributes: Attributes

    @cached_property
    def service_name(self) -> str | None:
        name = self.attributes.get("service.name")
        return name if isinstance(name, str) and name else None

    @cached_property
    def public(self) -> Mapping[str, str]:
        """Service, deployment and telemetry attributes, in order of their keys; never headers or baggage."""
        return {
            key: str(value)[:_MAX_PUBLIC]
            for key, value in sorted(self.attributes.items())
            if key.startswith(_PUBLIC_PREFIXES) and isinstance(value, (str, bool, int, float))
        }


@dataclass(frozen=True, slots=True)
class Scope:
    name: str
    version: str
    attributes: Attributes


@quick
@dataclass(frozen=True, slots=True)
class SpanEvent:
    name: str
    time_ns: int
    attributes: Attributes
    dropped_attributes: int = 0


@dataclass(frozen=True, slots=True)
class SpanLink:
    trace_id: str
    span_id: str
    attributes: Attributes


@quick
@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    kind: int
    """SpanKind of opentelemetry.proto.trace.v1: 1 internal, 2 server, 3 client, 4 producer, 5 consumer."""
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    links: tuple[SpanLink, ...]
    status: StatusCode
    status_message: str
    resource: Resource
    scope: Scope
    dropped_attributes: int = 0
    dropped_events: int = 0


@quick
@dataclass(frozen=True, slots=True)
class LogRecord:
    trace_id: str
    span_id: str
    time_ns: int
    """The record's time, else the observed time."""
    event_name: str
    """`event_name`, else the attribute `event.name`, else ""."""
    severity_number: int
    body: AttributeValue
    attributes: Attributes
    resource: Resource
    scope: Scope
    dropped_attributes: int = 0
    position: int = 0
    """Index within its request: keeps the order of records whose times are equal."""
