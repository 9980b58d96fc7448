"""OTLP's protobuf messages as the collector reads them: every message of the specification, made lenient and bounded.

The installed `opentelemetry-proto` descriptors are copied into a private pool and changed in two ways:

* Strings are declared as bytes. Text that is no UTF-8 then parses like any other and is replaced when it is read, and
  values that nobody reads are never decoded.
* `AnyValue` may nest `MAX_DEPTH` containers and no more. Each level is a message type of its own, and what the last
  level may not hold is a message with a required field that no request can set, so protobuf's own C code finds values
  that are too deep (`IsInitialized`) and every walk over a parsed value has a bounded depth.

The envelopes are a slim reading of the same bytes: resource, scope, span and log record stay unparsed bytes, so that
what is not wanted is never parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.errors import MalformedRequestError
from collector.telemetry.records import Signal

MAX_DEPTH = 32
"""Arrays and key-value lists inside each other in one attribute value or log body."""

_COMMON = "opentelemetry.proto.common.v1"
_NESTING = ("AnyValue", "ArrayValue", "KeyValueList", "KeyValue")
_TOO_DEEP = "adhere.wire.TooDeep"
_SERVICES = {
    Signal.TRACES: (trace_service_pb2, "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest"),
    Signal.LOGS: (logs_service_pb2, "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest"),
    Signal.METRICS: (metrics_service_pb2, "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest"),
}


@dataclass(frozen=True, slots=True)
class WireSchema:
    """Message classes; `Any`, since they are made at run time."""

    requests: dict[Signal, Any]
    """Export*ServiceRequest, parsed to the last field."""
    envelopes: dict[Signal, Any]
    """Export*ServiceRequest with `groups[].resource` and `groups[].scopes[].{scope,items[]}` as bytes."""
    resource: Any
    scope: Any
    span: Any
    log_record: Any
    binary_fields: frozenset[str]
    """Names of the fields that hold bytes in OTLP itself; all other bytes fields hold text."""


@cache
def wire_schema() -> WireSchema:
    """The schema, built once for each process (some milliseconds)."""
    pool = DescriptorPool()
    binary: set[str] = set()
    added: set[str] = set()
    pool.Add(_too_deep_file())
    for service, _ in _SERVICES.values():
        _add_lenient(pool, service.DESCRIPTOR, added=added, binary=binary)
    pool.Add(_envelope_file())

    def message(name: str) -> Any:
        return GetMessageClass(pool.FindMessageTypeByName(name))

    return WireSchema(
        requests={signal: message(name) for signal, (_, name) in _SERVICES.items()},
        envelopes={signal: message("adhere.wire.Envelope") for signal in _SERVICES},
        resource=message("opentelemetry.proto.resource.v1.Resource"),
        scope=message(f"{_COMMON}.InstrumentationScope"),
        span=message("opentelemetry.proto.trace.v1.Span"),
        log_record=message("opentelemetry.proto.logs.v1.LogRecord"),
        binary_fields=frozenset(binary),
    )


def parse(message_class: Any, data: bytes, *, what: str) -> Any:
    """Parse, or raise MalformedRequestError naming `what`; never with content."""
    try:
        message = message_class.FromString(data)
    except DecodeError as err:
        raise MalformedRequestError(
            f"The {what} is no valid protobuf message of its type ({len(data)} bytes); send OTLP 1.x protobuf."
        ) from err
    if not message.IsInitialized():
        raise MalformedRequestError(
            f"The {what} nests values deeper than {MAX_DEPTH} levels; flatten it or send it as a JSON string."
        )
    return message


def otlp_name(descriptor: Descriptor) -> str:
    """The message's name in OTLP, whatever its nesting level here."""
    name: str = descriptor.name
    return name.rstrip("0123456789") if descriptor.full_name.startswith(_COMMON) else name


def _add_lenient(pool: DescriptorPool, file: FileDescriptor, *, added: set[str], binary: set[str]) -> None:
    if file.name in added:
        return
    added.add(file.name)
    for dependency in file.dependencies:
        _add_lenient(pool, dependency, added=added, binary=binary)
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    for message in proto.message_type:
        _strings_to_bytes(message, binary)
    if file.package == _COMMON:
        proto.dependency.append("adhere/too_deep.proto")
        _bound_nesting(proto)
    pool.Add(proto)


def _strings_to_bytes(message: DescriptorProto, binary: set[str]) -> None:
    for field in message.field:
        if field.type == FieldDescriptorProto.TYPE_BYTES:
            binary.add(field.name)
        elif field.type == FieldDescriptorProto.TYPE_STRING:
            field.type = FieldDescriptorProto.TYPE_BYTES
    for nested in message.nested_type:
        _strings_to_bytes(nested, binary)


def _bound_nesting(proto: FileDescriptorProto) -> None:
    """Make `MAX_DEPTH + 1` copies of the four types that hold each other; level 0 keeps OTLP's names."""
    originals = [message for message in proto.message_type if message.name in _NESTING]
    copies = []
    for level in range(MAX_DEPTH + 1):
        for original in originals:
            copy = DescriptorProto()
            copy.CopyFrom(original)
            copy.name = _level_name(original.name, level)
            for field in copy.field:
                target = field.type_name.removeprefix(f".{_COMMON}.")
                if target not in _NESTING:
                    continue
                # Within a container the value is one level down; everything else stays on its level.
                is_container = original.name in {"ArrayValue", "KeyValueList"}
                field.type_name = f".{_COMMON}.{_level_name(target, level + is_container)}"
                if level + is_container > MAX_DEPTH or (original.name == "AnyValue" and level == MAX_DEPTH):
                    field.type_name = f".{_TOO_DEEP}"
            copies.append(copy)
    for original in list(originals):
        proto.message_type.remove(original)
    proto.message_type.extend(copies)


def _level_name(name: str, level: int) -> str:
    return f"{name}{level}" if level else name


def _too_deep_file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="adhere/too_deep.proto", package="adhere.wire", syntax="proto2")
    message = file.message_type.add(name="TooDeep")
    message.field.add(
        name="never_set",
        number=536_870_911,
        label=FieldDescriptorProto.LABEL_REQUIRED,
        type=FieldDescriptorProto.TYPE_BOOL,
    )
    return file


def _envelope_file() -> FileDescriptorProto:
    """Traces, logs and metrics requests have the same outer three levels and field numbers."""
    file = FileDescriptorProto(name="adhere/envelope.proto", package="adhere.wire", syntax="proto3")
    repeated, optional = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.LABEL_OPTIONAL
    raw, message = FieldDescriptorProto.TYPE_BYTES, FieldDescriptorProto.TYPE_MESSAGE

    scope = file.message_type.add(name="ScopeEnvelope")
    scope.field.add(name="scope", number=1, label=optional, type=raw)
    scope.field.add(name="items", number=2, label=repeated, type=raw)
    group = file.message_type.add(name="GroupEnvelope")
    group.field.add(name="resource", number=1, label=optional, type=raw)
    group.field.add(name="scopes", number=2, label=repeated, type=message, type_name=".adhere.wire.ScopeEnvelope")
    envelope = file.message_type.add(name="Envelope")
    envelope.field.add(name="groups", number=1, label=repeated, type=message, type_name=".adhere.wire.GroupEnvelope")
    return file
