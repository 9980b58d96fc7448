"""OTLP's own message descriptors, copied so that a private pool can read the same bytes in another way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from collector.telemetry.envelope import ITEM_CLASSES

COMMON_PACKAGE = "opentelemetry.proto.common.v1"


def add_otlp(pool: DescriptorPool, change: Callable[[FileDescriptorProto], None]) -> None:
    """Add a copy of every OTLP file, dependencies first, after `change` has edited it in place."""
    added: set[str] = set()
    for item in ITEM_CLASSES.values():
        _add(pool, item.DESCRIPTOR.file, change, added)


def all_messages(file: FileDescriptorProto) -> Iterator[DescriptorProto]:
    """The file's messages, nested ones included."""
    pending = list(file.message_type)
    while pending:
        message = pending.pop()
        yield message
        pending.extend(message.nested_type)


def _add(
    pool: DescriptorPool, file: FileDescriptor, change: Callable[[FileDescriptorProto], None], added: set[str]
) -> None:
    if file.name in added:
        return
    added.add(file.name)
    for dependency in file.dependencies:
        _add(pool, dependency, change, added)
    copy = FileDescriptorProto()
    file.CopyToProto(copy)
    change(copy)
    pool.Add(copy)
