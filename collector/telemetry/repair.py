"""Make text that is no UTF-8 readable: each bad sequence becomes U+FFFD, everything else keeps its bytes.

Protobuf refuses a whole message for one bad byte in one string. SDKs that cut strings by bytes do send such text, and
an agent's telemetry is worth more than its spelling, so a message that fails to parse gets this second chance.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from collector.telemetry.descriptors import add_otlp, all_messages
from collector.telemetry.envelope import malformed

_RENAMED = "text_"


def parse(message_class: Any, data: bytes, *, what: str) -> Any:
    """Parse as `message_class`, repairing text if need be; MalformedRequestError names `what`, never content."""
    try:
        return message_class.FromString(data)
    except DecodeError:
        pass
    try:
        lenient = _lenient_class(message_class.DESCRIPTOR.full_name).FromString(data)
        _repair(lenient)
        return message_class.FromString(lenient.SerializeToString())
    except DecodeError as err:
        raise malformed(what, data) from err


def _repair(message: Any) -> None:
    """Recursion is bounded by protobuf's own limit of 100 nested messages."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in value if field.is_repeated else (value,):
                _repair(item)
        elif field.name.startswith(_RENAMED):
            if field.is_repeated:
                value[:] = [_readable(item) for item in value]
            else:
                setattr(message, field.name, _readable(value))


def _readable(raw: bytes) -> bytes:
    return raw.decode("utf-8", "replace").encode()


@cache
def _lenient_class(name: str) -> Any:
    return GetMessageClass(_lenient_pool().FindMessageTypeByName(name))


@cache
def _lenient_pool() -> DescriptorPool:
    pool = DescriptorPool()
    add_otlp(pool, _strings_to_bytes)
    return pool


def _strings_to_bytes(file: FileDescriptorProto) -> None:
    for message in all_messages(file):
        for field in message.field:
            if field.type == FieldDescriptorProto.TYPE_STRING:
                field.type = FieldDescriptorProto.TYPE_BYTES
                # The name says which bytes are text; on the wire there are only numbers.
                field.name = f"{_RENAMED}{field.name}"
                field.ClearField("json_name")
