"""Spans out of their protobuf bytes, for a reader of many requests: what repeats from span to span is decoded once.

A span is parsed with a schema in which its attributes, events, links and status are bytes, so that each is decoded in
its cheapest way or not at all. Resources and scopes that were seen lately are one shared object, also across requests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.trace.v1 import trace_pb2

from collector.telemetry.anyvalue import attributes_of
from collector.telemetry.envelope import RESOURCE_CLASS, SCOPE_CLASS, malformed
from collector.telemetry.pairs import AttributePairs
from collector.telemetry.records import Resource, Scope, Span, SpanEvent, SpanLink, StatusCode
from collector.telemetry.repair import parse

RecordT = TypeVar("RecordT", Resource, Scope)

_EVENT_CLASS: Any = trace_pb2.Span.Event
_LINK_CLASS: Any = trace_pb2.Span.Link
_STATUS_CLASS: Any = trace_pb2.Status
_STATUS = {code.value: code for code in StatusCode}
_MAX_SHARED = 256
_MAX_SHARED_BYTES = 16 * 1024


class SpanDecoder:
    """Text that is no UTF-8 is replaced (U+FFFD); what does not decode raises MalformedRequestError."""

    def __init__(self) -> None:
        self._pairs = AttributePairs()
        self._resources: dict[bytes, Resource] = {}
        self._scopes: dict[bytes, Scope] = {}
        self._span_class = _slim_span_class()

    def resource(self, raw: bytes) -> Resource:
        return _shared(self._resources, raw, _resource)

    def scope(self, raw: bytes) -> Scope:
        return _shared(self._scopes, raw, _scope)

    def span(self, raw: bytes, resource: Resource, scope: Scope) -> Span:
        try:
            span = self._span_class.FromString(raw)
        except DecodeError as err:
            raise malformed("span", raw) from err
        status, status_message = StatusCode.UNSET, ""
        if raw_status := span.status:
            parsed = parse(_STATUS_CLASS, raw_status, what="span")
            status, status_message = _STATUS.get(parsed.code, StatusCode.UNSET), parsed.message
        return Span(
            hex_id(span.trace_id),
            hex_id(span.span_id),
            hex_id(span.parent_span_id),
            span.name.decode("utf-8", "replace"),
            span.kind,
            span.start_ns,
            span.end_ns,
            self._pairs.attributes(span.attributes),
            tuple([self._event(event) for event in events]) if (events := span.events) else (),
            tuple([_link(link) for link in links]) if (links := span.links) else (),
            status,
            status_message,
            resource,
            scope,
            span.dropped_attributes,
            span.dropped_events,
        )

    def _event(self, raw: bytes) -> SpanEvent:
        event = parse(_EVENT_CLASS, raw, what="span event")
        return SpanEvent(
            name=event.name,
            time_ns=event.time_unix_nano,
            attributes=attributes_of(event.attributes),
            dropped_attributes=event.dropped_attributes_count,
        )


def _resource(raw: bytes) -> Resource:
    return Resource(attributes=attributes_of(parse(RESOURCE_CLASS, raw, what="resource").attributes))


def _scope(raw: bytes) -> Scope:
    scope = parse(SCOPE_CLASS, raw, what="scope")
    return Scope(name=scope.name, version=scope.version, attributes=attributes_of(scope.attributes))


def _link(raw: bytes) -> SpanLink:
    link = parse(_LINK_CLASS, raw, what="span link")
    return SpanLink(
        trace_id=hex_id(link.trace_id), span_id=hex_id(link.span_id), attributes=attributes_of(link.attributes)
    )


def hex_id(raw: bytes) -> str:
    return raw.hex() if raw.strip(b"\0") else ""


def _shared(known: dict[bytes, RecordT], raw: bytes, decode: Callable[[bytes], RecordT]) -> RecordT:
    record = known.get(raw)
    if record is None:
        record = decode(raw)
        if len(raw) <= _MAX_SHARED_BYTES:
            if len(known) >= _MAX_SHARED:
                known.clear()
            known[raw] = record
    return record


@cache
def _slim_span_class() -> Any:
    """`opentelemetry.proto.trace.v1.Span` by its field numbers, with everything that holds something as bytes."""
    file = FileDescriptorProto(name="adhere/span.proto", package="adhere.span", syntax="proto2")
    message = file.message_type.add(name="Span")
    kinds = FieldDescriptorProto
    for number, name, kind, repeated in (
        (1, "trace_id", kinds.TYPE_BYTES, False),
        (2, "span_id", kinds.TYPE_BYTES, False),
        (4, "parent_span_id", kinds.TYPE_BYTES, False),
        (5, "name", kinds.TYPE_BYTES, False),
        (6, "kind", kinds.TYPE_INT32, False),
        (7, "start_ns", kinds.TYPE_FIXED64, False),
        (8, "end_ns", kinds.TYPE_FIXED64, False),
        (9, "attributes", kinds.TYPE_BYTES, True),
        (10, "dropped_attributes", kinds.TYPE_UINT32, False),
        (11, "events", kinds.TYPE_BYTES, True),
        (12, "dropped_events", kinds.TYPE_UINT32, False),
        (13, "links", kinds.TYPE_BYTES, True),
        (15, "status", kinds.TYPE_BYTES, False),
    ):
        label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
        message.field.add(name=name, number=number, type=kind, label=label)
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("adhere.span.Span"))
