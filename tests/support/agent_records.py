"""Log records of agents that send no spans, short to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.telemetry.records import LogRecord, Resource, Scope
from tests.support.genai_spans import MS, T0


def record(
    event_name: str,
    attributes: Mapping[str, Any],
    *,
    at: int,
    service: str = "agent",
    scope: str = "",
    body: Any = None,
    trace_id: str = "",
    span_id: str = "",
) -> LogRecord:
    """`at` is in milliseconds; without a trace and a span, as most such records are."""
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time_ns=T0 + at * MS,
        event_name=event_name,
        severity_number=9,
        body=event_name if body is None else body,
        attributes=dict(attributes),
        resource=Resource({"service.name": service}),
        scope=Scope(scope, "", {}),
        position=at,
    )
