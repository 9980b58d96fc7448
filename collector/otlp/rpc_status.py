"""`google.rpc.Status` with `RetryInfo`, in protobuf and JSON: the body of every HTTP error, and gRPC's status details.

The messages are declared here, since the package that holds them is no dependency of OTLP's protobuf classes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message_factory import GetMessageClass

from collector.otlp.status import WireStatus

_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def status_protobuf(status: WireStatus) -> bytes:
    message = _message_class("Status")(code=status.code, message=status.message.encode())
    if status.retry_delay_s is not None:
        retry_info = _message_class("RetryInfo")(retry_delay=_duration(status.retry_delay_s).SerializeToString())
        detail = _message_class("Detail")(type_url=_RETRY_INFO.encode(), value=retry_info.SerializeToString())
        message.details.append(detail)
    data: bytes = message.SerializeToString()
    return data


def status_json(status: WireStatus) -> bytes:
    document: dict[str, Any] = {"code": status.code, "message": status.message}
    if status.retry_delay_s is not None:
        document["details"] = [{"@type": _RETRY_INFO, "retryDelay": _duration(status.retry_delay_s).ToJsonString()}]
    return orjson.dumps(document)


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(round(seconds * 1e9))
    return duration


@cache
def _message_class(name: str) -> Any:
    return GetMessageClass(_pool().FindMessageTypeByName(f"adhere.rpc.{name}"))


@cache
def _pool() -> DescriptorPool:
    """Texts are declared as bytes, which are the same on the wire."""
    optional, repeated = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
    raw, message = FieldDescriptorProto.TYPE_BYTES, FieldDescriptorProto.TYPE_MESSAGE
    file = FileDescriptorProto(name="adhere/rpc.proto", package="adhere.rpc", syntax="proto3")
    status = file.message_type.add(name="Status")
    status.field.add(name="code", number=1, label=optional, type=FieldDescriptorProto.TYPE_INT32)
    status.field.add(name="message", number=2, label=optional, type=raw)
    status.field.add(name="details", number=3, label=repeated, type=message, type_name=".adhere.rpc.Detail")
    detail = file.message_type.add(name="Detail")
    detail.field.add(name="type_url", number=1, label=optional, type=raw)
    detail.field.add(name="value", number=2, label=optional, type=raw)
    retry_info = file.message_type.add(name="RetryInfo")
    retry_info.field.add(name="retry_delay", number=1, label=optional, type=raw)
    pool = DescriptorPool()
    pool.Add(file)
    return pool
