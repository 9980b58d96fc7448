"""OTLP protobuf bytes to OTLP/JSON: the way back of `json_decode`, for files of JSON lines.

Ids in lower-case hex, enums as integers, 64-bit numbers as strings, default values left out; text that is no UTF-8 is
replaced (U+FFFD). Fields that this version of OTLP does not know are lost: JSON has no place for them.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import orjson
from google.protobuf.descriptor import FieldDescriptor

from collector.telemetry.envelope import ITEM_CLASSES, ITEM_NAMES, RESOURCE_CLASS, SCOPE_CLASS, split
from collector.telemetry.json_names import ENVELOPE_NAMES, HEX_FIELDS
from collector.telemetry.records import Signal
from collector.telemetry.repair import parse

_64_BIT = frozenset(
    {
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_SFIXED64,
    }
)


def protobuf_to_json(signal: Signal, body: bytes) -> bytes:
    """An Export*ServiceRequest as JSON on one line, without the line's end."""
    names = ENVELOPE_NAMES[signal]
    groups = []
    for group in split(signal, body).groups:
        scopes = []
        for scope in group.scopes:
            items = [_object(parse(ITEM_CLASSES[signal], item, what=ITEM_NAMES[signal])) for item in scope.items]
            scopes.append(_outer(scope, "scope", SCOPE_CLASS) | {names.items: items} | _schema_url(scope))
        groups.append(_outer(group, "resource", RESOURCE_CLASS) | {names.scopes: scopes} | _schema_url(group))
    return orjson.dumps({names.groups: groups})


def _outer(envelope: Any, name: str, message_class: Any) -> dict[str, Any]:
    if not envelope.HasField(name):
        return {}
    return {name: _object(parse(message_class, getattr(envelope, name), what=name))}


def _schema_url(envelope: Any) -> dict[str, Any]:
    return {"schemaUrl": envelope.schema_url.decode("utf-8", "replace")} if envelope.schema_url else {}


def _object(message: Any) -> dict[str, Any]:
    """Recursion is bounded by protobuf's own limit of 100 nested messages."""
    return {
        field.json_name: [_value(field, item) for item in value] if field.is_repeated else _value(field, value)
        for field, value in message.ListFields()
    }


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _object(value)
    if field.type in _64_BIT:
        return str(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex() if field.name in HEX_FIELDS else base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
