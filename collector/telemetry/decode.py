"""OTLP protobuf bytes to spans and log records.

Resource, scope and items are split without parsing them, so a span that the caller does not want costs one call of
`wanted` and nothing else. What does not decode raises MalformedRequestError; text that is no UTF-8 is replaced
(U+FFFD), never refused. Ids of zeros only are invalid in OpenTelemetry and read as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from collector.telemetry.anyvalue import attributes_of, value_of
from collector.telemetry.envelope import ITEM_CLASSES, ITEM_NAMES, RESOURCE_CLASS, SCOPE_CLASS, split
from collector.telemetry.records import LogRecord, Resource, Scope, Signal, Span, SpanEvent, SpanLink, StatusCode
from collector.telemetry.repair import parse

RecordT = TypeVar("RecordT", Resource, Scope)

_STATUS = {code.value: code for code in StatusCode}

Wanted = Callable[[bytes], bool]
"""Decides by an item's raw bytes whether to decode it; a false positive costs time, a false negative loses the item."""


def decode_traces(body: bytes) -> list[Span]:
    return list(iter_spans(body))


def decode_logs(body: bytes) -> list[LogRecord]:
    return list(iter_logs(body))


def iter_spans(body: bytes, *, wanted: Wanted | None = None) -> Iterator[Span]:
    """Spans in the order sent, decoded as they are asked for; an error may therefore come after some spans."""
    for span, resource, scope, _ in _items(Signal.TRACES, body, wanted):
        yield _span(span, resource, scope)


def iter_logs(body: bytes, *, wanted: Wanted | None = None) -> Iterator[LogRecord]:
    """Log records, likewise."""
    for log, resource, scope, position in _items(Signal.LOGS, body, wanted):
        yield _log(log, resource, scope, position)


def _items(signal: Signal, body: bytes, wanted: Wanted | None) -> Iterator[tuple[Any, Resource, Scope, int]]:
    item_class, what = ITEM_CLASSES[signal], ITEM_NAMES[signal]
    resources: dict[bytes, Resource] = {}
    scopes: dict[bytes, Scope] = {}
    position = 0
    for group in split(signal, body).groups:
        resource: Resource | None = None
        for scope_group in group.scopes:
            scope: Scope | None = None
            for raw in scope_group.items:
                if wanted is None or wanted(raw):
                    # Neither is decoded for items that nobody wants.
                    resource = resource or _shared(resources, group.resource, _resource)
                    scope = scope or _shared(scopes, scope_group.scope, _scope)
                    yield parse(item_class, raw, what=what), resource, scope, position
                position += 1


def _shared(known: dict[bytes, RecordT], raw: bytes, decode: Callable[[bytes], RecordT]) -> RecordT:
    record = known.get(raw)
    if record is None:
        record = known[raw] = decode(raw)
    return record


def _resource(raw: bytes) -> Resource:
    return Resource(attributes=attributes_of(parse(RESOURCE_CLASS, raw, what="resource").attributes))


def _scope(raw: bytes) -> Scope:
    scope = parse(SCOPE_CLASS, raw, what="scope")
    return Scope(name=scope.name, version=scope.version, attributes=attributes_of(scope.attributes))


def _span(span: Any, resource: Resource, scope: Scope) -> Span:
    events, links, status = span.events, span.links, span.status
    return Span(
        trace_id=_hex(span.trace_id),
        span_id=_hex(span.span_id),
        parent_span_id=_hex(span.parent_span_id),
        name=span.name,
        kind=span.kind,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=attributes_of(span.attributes),
        events=tuple([_event(event) for event in events]) if events else (),
        links=tuple([_link(link) for link in links]) if links else (),
        status=_STATUS.get(status.code, StatusCode.UNSET),
        status_message=status.message,
        resource=resource,
        scope=scope,
        dropped_attributes=span.dropped_attributes_count,
        dropped_events=span.dropped_events_count,
    )


def _event(event: Any) -> SpanEvent:
    return SpanEvent(
        name=event.name,
        time_ns=event.time_unix_nano,
        attributes=attributes_of(event.attributes),
        dropped_attributes=event.dropped_attributes_count,
    )


def _link(link: Any) -> SpanLink:
    return SpanLink(trace_id=_hex(link.trace_id), span_id=_hex(link.span_id), attributes=attributes_of(link.attributes))


def _log(log: Any, resource: Resource, scope: Scope, position: int) -> LogRecord:
    attributes = attributes_of(log.attributes)
    event_name = log.event_name
    if not event_name:
        # Before OTLP 1.5 the event's name travelled as an attribute.
        named = attributes.get("event.name")
        event_name = named if isinstance(named, str) else ""
    return LogRecord(
        trace_id=_hex(log.trace_id),
        span_id=_hex(log.span_id),
        time_ns=log.time_unix_nano or log.observed_time_unix_nano,
        event_name=event_name,
        severity_number=log.severity_number,
        body=value_of(log.body),
        attributes=attributes,
        resource=resource,
        scope=scope,
        dropped_attributes=log.dropped_attributes_count,
        position=position,
    )


def _hex(raw: bytes) -> str:
    return raw.hex() if raw.strip(b"\0") else ""
