"""What every dialect takes over from a span or a log record as it is: ids, times, resource, status.

A dialect starts from `span_frame` or `log_frame` and replaces what it knows. A log record that belongs to no span (some
agents send events only) is given ids by `stand_in_ids`: equal parts give equal ids, so a turn's records meet in one
trace.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from collector.messages.stack_traces import without_stack
from collector.model import GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import LogRecord, Span, StatusCode

_MAX_ATTRIBUTE = 512


def span_frame(span: Span, *, dialect: str, kind: OperationKind = OperationKind.OTHER) -> Operation:
    gaps = (GapKind.ATTRIBUTES_DROPPED,) if span.dropped_attributes or span.dropped_events else ()
    failed = span.status is StatusCode.ERROR
    return Operation(
        trace_id=span.trace_id,
        span_id=span.span_id,
        dialect=dialect,
        kind=kind,
        name=span.name,
        parent_span_id=span.parent_span_id,
        start_ns=span.start_ns,
        end_ns=max(span.end_ns, span.start_ns),
        service=span.resource.service_name,
        scope=span.scope.name,
        resource=span.resource.public,
        is_error=failed,
        error=_error_of(span) if failed else None,
        gaps=gaps,
    )


def log_frame(record: LogRecord, *, dialect: str, kind: OperationKind = OperationKind.OTHER) -> Operation:
    """A fragment without times: a record does not say when its span began or ended."""
    return Operation(
        trace_id=record.trace_id,
        span_id=record.span_id,
        dialect=dialect,
        kind=kind,
        service=record.resource.service_name,
        resource=record.resource.public,
        gaps=(GapKind.ATTRIBUTES_DROPPED,) if record.dropped_attributes else (),
    )


def stand_in_ids(*parts: str, own: str = "") -> tuple[str, str]:
    """(trace id, span id) for records that have none: the trace from `parts`, the span from `own` within it."""
    trace = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    span = blake2b(f"{trace}\0{own}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return trace, span


def exception_of(span: Span) -> str | None:
    """Type or message of the exception event, the last if there are several."""
    for event in reversed(span.events):
        if event.name == "exception":
            for key in ("exception.message", "exception.type"):
                value = event.attributes.get(key)
                if isinstance(value, str) and (message := without_stack(value)):
                    return message[:_MAX_ATTRIBUTE]
    return None


def _error_of(span: Span) -> str:
    kind = span.attributes.get("error.type")
    named = kind if isinstance(kind, str) else ""
    return (exception_of(span) or without_stack(span.status_message) or named or "error")[:_MAX_ATTRIBUTE]


def upon(frame: Operation, fields: dict[str, Any]) -> Operation:
    """The frame with these fields, whose gaps and failure are added to those that the frame has."""
    fields["gaps"] = tuple(sorted({*frame.gaps, *fields.get("gaps", ())}))
    fields["is_error"] = frame.is_error or fields.get("is_error", False)
    return replace(frame, **fields)
