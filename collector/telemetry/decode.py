"""OTLP protobuf bytes to spans and log records.

Resource, scope and items are split without parsing them, so a span that the caller does not want costs one call of
`wanted` and nothing else. What does not decode raises MalformedRequestError; text that is no UTF-8 is replaced
(U+FFFD), never refused. Ids of zeros only are invalid in OpenTelemetry and read as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collector.telemetry.anyvalue import attributes_of, value_of
from collector.telemetry.envelope import ITEM_CLASSES, ITEM_NAMES, split
from collector.telemetry.records import LogRecord, Resource, Scope, Signal, Span
from collector.telemetry.repair import parse
from collector.telemetry.span_decoder import SpanDecoder, hex_id

Wanted = Callable[[bytes], bool]
"""Decides by an item's raw bytes whether to decode it; a false positive costs time, a false negative loses the item."""


def decode_traces(body: bytes) -> list[Span]:
    return list(iter_spans(body))


def decode_logs(body: bytes) -> list[LogRecord]:
    return list(iter_logs(body))


def iter_spans(body: bytes, *, wanted: Wanted | None = None, decoder: SpanDecoder | None = None) -> Iterator[Span]:
    """Spans in the order sent, decoded as they are asked for; an error may therefore come after some spans.

    Who reads many requests should keep a decoder.
    """
    decoder = decoder or SpanDecoder()
    for group in split(Signal.TRACES, body).groups:
        resource: Resource | None = None
        for scope_group in group.scopes:
            scope: Scope | None = None
            for raw in scope_group.items:
                if wanted is None or wanted(raw):
                    # Neither is decoded for items that nobody wants.
                    resource = resource or decoder.resource(group.resource)
                    scope = scope or decoder.scope(scope_group.scope)
                    yield decoder.span(raw, resource, scope)


def iter_logs(body: bytes, *, wanted: Wanted | None = None) -> Iterator[LogRecord]:
    """Log records, likewise."""
    item_class, what = ITEM_CLASSES[Signal.LOGS], ITEM_NAMES[Signal.LOGS]
    decoder = SpanDecoder()
    position = 0
    for group in split(Signal.LOGS, body).groups:
        resource: Resource | None = None
        for scope_group in group.scopes:
            scope: Scope | None = None
            for raw in scope_group.items:
                if wanted is None or wanted(raw):
                    resource = resource or decoder.resource(group.resource)
                    scope = scope or decoder.scope(scope_group.scope)
                    yield _log(parse(item_class, raw, what=what), resource, scope, position)
                position += 1


def _log(log: Any, resource: Resource, scope: Scope, position: int) -> LogRecord:
    attributes = attributes_of(log.attributes)
    event_name = log.event_name
    if not event_name:
        # Before OTLP 1.5 the event's name travelled as an attribute.
        named = attributes.get("event.name")
        event_name = named if isinstance(named, str) else ""
    return LogRecord(
        trace_id=hex_id(log.trace_id),
        span_id=hex_id(log.span_id),
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
