"""The outer three levels of an Export*ServiceRequest, which traces, logs and metrics share number by number.

`Envelope` splits a request and leaves resource, scope and every item (span, log record, metric) as unparsed bytes, so
that an item nobody wants is never parsed, and each item can be parsed with protobuf's whole limit of nested messages.
Its fields: `groups[].{resource, scopes[], schema_url}` and `scopes[].{scope, items[], schema_url}`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from collector.errors import MalformedRequestError
from collector.telemetry.records import Signal

ITEM_CLASSES: dict[Signal, Any] = {
    Signal.TRACES: trace_pb2.Span,
    Signal.LOGS: logs_pb2.LogRecord,
    Signal.METRICS: metrics_pb2.Metric,
}
RESOURCE_CLASS: Any = resource_pb2.Resource
SCOPE_CLASS: Any = common_pb2.InstrumentationScope

ITEM_NAMES = {Signal.TRACES: "span", Signal.LOGS: "log record", Signal.METRICS: "metric"}


def split(signal: Signal, body: bytes) -> Any:
    """The request as an `Envelope` (see above), or MalformedRequestError."""
    try:
        return envelope_class().FromString(body)
    except DecodeError as err:
        raise malformed(f"{signal} request", body) from err


def malformed(what: str, data: bytes) -> MalformedRequestError:
    return MalformedRequestError(
        f"The {what} ({len(data)} bytes) is no valid protobuf message of its type; send OTLP 1.x protobuf."
    )


@cache
def envelope_class() -> Any:
    pool = DescriptorPool()
    # Syntax proto2, since there a field that was sent empty differs from one that was not sent.
    file = FileDescriptorProto(name="adhere/envelope.proto", package="adhere.envelope", syntax="proto2")
    add_envelope(file, "Envelope")
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("adhere.envelope.Envelope"))


def add_envelope(
    file: FileDescriptorProto,
    name: str,
    *,
    resource: str | None = None,
    scope: str | None = None,
    item: str | None = None,
) -> None:
    """Add the three messages to `file`; the parts are of the message types named, or bytes."""
    prefix = f".{file.package}.{name}"
    scopes = file.message_type.add(name=f"{name}Scope")
    _add_field(scopes, "scope", 1, type_name=scope)
    _add_field(scopes, "items", 2, type_name=item, repeated=True)
    _add_field(scopes, "schema_url", 3)
    groups = file.message_type.add(name=f"{name}Group")
    _add_field(groups, "resource", 1, type_name=resource)
    _add_field(groups, "scopes", 2, type_name=f"{prefix}Scope", repeated=True)
    _add_field(groups, "schema_url", 3)
    envelope = file.message_type.add(name=name)
    _add_field(envelope, "groups", 1, type_name=f"{prefix}Group", repeated=True)


def _add_field(
    message: DescriptorProto, name: str, number: int, *, type_name: str | None = None, repeated: bool = False
) -> None:
    message.field.add(
        name=name,
        number=number,
        label=FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL,
        type=FieldDescriptorProto.TYPE_MESSAGE if type_name else FieldDescriptorProto.TYPE_BYTES,
        type_name=type_name,
    )
