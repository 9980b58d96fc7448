"""Is this body an OTLP request? Asked before a request is acknowledged, so in C and without reading a value.

The check parses the request with a skeleton of OTLP's messages: only the fields that hold messages are declared, so the
whole structure is walked and no value is looked at. `AnyValue` may nest `MAX_DEPTH` containers and no more: in the
skeleton each level is a message type of its own, and what the last level may not hold is a message with a required
field that no request can set, which protobuf's own check finds. Text that is no UTF-8 passes; reading replaces it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from collector.errors import RequestTooLargeError
from collector.telemetry.anyvalue import MAX_DEPTH, too_deep
from collector.telemetry.descriptors import COMMON_PACKAGE, add_otlp, all_messages
from collector.telemetry.envelope import (
    ITEM_CLASSES,
    ITEM_NAMES,
    RESOURCE_CLASS,
    SCOPE_CLASS,
    add_envelope,
    malformed,
    split,
)
from collector.telemetry.records import Signal

MAX_GROUPS = 50_000
"""Resources and scopes of one request together."""

_NESTING = ("AnyValue", "ArrayValue", "KeyValueList", "KeyValue")
_CONTAINERS = ("ArrayValue", "KeyValueList")
_TOO_DEEP = "adhere.skeleton.TooDeep"


def validate(signal: Signal, body: bytes) -> int:
    """The number of spans, log records or metrics.

    Raises MalformedRequestError if the body does not decode, and RequestTooLargeError over `MAX_GROUPS`.
    """
    try:
        request = _skeleton_class(signal.value).FromString(body)
    except DecodeError:
        # Garbage, or a value so deep that its place in the request takes it over protobuf's limit of 100 messages.
        return _validate_parts(signal, body)
    if not request.IsInitialized():
        raise too_deep(f"{signal} request")
    _check_groups(request)
    return sum(len(scope.items) for group in request.groups for scope in group.scopes)


def _validate_parts(signal: Signal, body: bytes) -> int:
    count = 0
    envelope = split(signal, body)
    _check_groups(envelope)
    for group in envelope.groups:
        _validate_part(RESOURCE_CLASS, group.resource, "resource")
        for scope in group.scopes:
            _validate_part(SCOPE_CLASS, scope.scope, "scope")
            for item in scope.items:
                _validate_part(ITEM_CLASSES[signal], item, ITEM_NAMES[signal])
            count += len(scope.items)
    return count


def _check_groups(request: Any) -> None:
    """Every reader walks over the groups in Python, so millions of empty ones would cost each of them seconds."""
    count = len(request.groups)
    if count <= MAX_GROUPS:
        for group in request.groups:
            count += len(group.scopes)
    if count > MAX_GROUPS:
        raise RequestTooLargeError(
            f"The request holds more than {MAX_GROUPS} resources and scopes; send it in smaller batches."
        )


def _validate_part(original: Any, data: bytes, what: str) -> None:
    try:
        part = _skeleton_class(original.DESCRIPTOR.full_name).FromString(data)
    except DecodeError as err:
        raise malformed(what, data) from err
    if not part.IsInitialized():
        raise too_deep(what)


@cache
def _skeleton_class(name: str) -> Any:
    """By a signal's name the request, by an OTLP message's full name that message."""
    request_names = {signal.value: f"adhere.skeleton.{signal.value.title()}" for signal in Signal}
    return GetMessageClass(_skeleton_pool().FindMessageTypeByName(request_names.get(name, name)))


@cache
def _skeleton_pool() -> DescriptorPool:
    pool = DescriptorPool()
    pool.Add(_too_deep_file())
    add_otlp(pool, _reduce_to_skeleton)
    requests = FileDescriptorProto(name="adhere/skeleton.proto", package="adhere.skeleton", syntax="proto2")
    requests.dependency.extend(
        sorted({original.DESCRIPTOR.file.name for original in (*ITEM_CLASSES.values(), RESOURCE_CLASS, SCOPE_CLASS)})
    )
    for signal, item in ITEM_CLASSES.items():
        add_envelope(
            requests,
            signal.value.title(),
            resource=f".{RESOURCE_CLASS.DESCRIPTOR.full_name}",
            scope=f".{SCOPE_CLASS.DESCRIPTOR.full_name}",
            item=f".{item.DESCRIPTOR.full_name}",
        )
    pool.Add(requests)
    return pool


def _reduce_to_skeleton(file: FileDescriptorProto) -> None:
    for message in all_messages(file):
        kept = [field for field in message.field if field.type == FieldDescriptorProto.TYPE_MESSAGE]
        del message.field[:], message.oneof_decl[:]
        for field in kept:
            field.ClearField("oneof_index")
            field.ClearField("proto3_optional")
        message.field.extend(kept)
    if file.package == COMMON_PACKAGE:
        file.dependency.append("adhere/too_deep.proto")
        _bound_nesting(file)


def _bound_nesting(file: FileDescriptorProto) -> None:
    """Copy the four types that hold each other for every level; level 0 keeps their names."""
    originals = [message for message in file.message_type if message.name in _NESTING]
    copies = [_on_level(original, level) for level in range(MAX_DEPTH + 1) for original in originals]
    for original in originals:
        file.message_type.remove(original)
    file.message_type.extend(copies)


def _on_level(original: DescriptorProto, level: int) -> DescriptorProto:
    copy = DescriptorProto()
    copy.CopyFrom(original)
    copy.name = _level_name(original.name, level)
    for field in copy.field:
        target = field.type_name.rpartition(".")[2]
        # A value's containers are one level below it; what a container or a pair holds stays on its level.
        below = level + (target in _CONTAINERS)
        field.type_name = f".{_TOO_DEEP}" if below > MAX_DEPTH else f".{COMMON_PACKAGE}.{_level_name(target, below)}"
    return copy


def _level_name(name: str, level: int) -> str:
    return f"{name}Level{level}" if level else name


def _too_deep_file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="adhere/too_deep.proto", package="adhere.skeleton", syntax="proto2")
    file.message_type.add(name="TooDeep").field.add(
        name="never_set",
        number=536_870_911,
        label=FieldDescriptorProto.LABEL_REQUIRED,
        type=FieldDescriptorProto.TYPE_BOOL,
    )
    return file
