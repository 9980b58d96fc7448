"""OTLP attributes as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import KeyValue


def plain(attributes: Iterable[KeyValue]) -> dict[str, object]:
    return {item.key: getattr(item.value, str(item.value.WhichOneof("value"))) for item in attributes}
