"""Fill a protobuf message from parsed OTLP/JSON, driven by the message's own descriptor.

So every message of the installed OTLP version is covered, metrics too, without a line for each. Recursion is bounded:
only `AnyValue` nests, and its depth is capped.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from collector.telemetry.anyvalue import MAX_DEPTH
from collector.telemetry.json_names import HEX_FIELDS

Scalar: TypeAlias = bool | int | float | str | bytes

_CONTAINERS = frozenset({"ArrayValue", "KeyValueList"})
_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT32 = (-(2**31), 2**31 - 1)
_INTEGER_RANGES = {
    FieldDescriptor.TYPE_ENUM: _INT32,
    **dict.fromkeys((FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32), _INT32),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32), (0, 2**32 - 1)),
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64), (-(2**63), 2**63 - 1)
    ),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64), (0, 2**64 - 1)),
}


class FieldError(ValueError):
    """What is wrong with a field, without its value; the path grows as the error rises."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def within(self, name: str) -> FieldError:
        separator = "" if not self.path or self.path.startswith("[") else "."
        self.path = f"{name}{separator}{self.path}"
        return self


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    is_repeated: bool
    is_container: bool
    to_scalar: Callable[[object], Scalar] | None
    """None for a message."""


def fill(message: Any, document: object, *, depth: int = 0) -> None:
    """Raise FieldError where the document breaks a rule of OTLP/JSON."""
    if not isinstance(document, dict):
        raise FieldError("must be a JSON object")
    fields = _fields(message.DESCRIPTOR)
    for key, value in document.items():
        field = fields.get(key)
        if field is None or value is None:
            continue
        try:
            _set(message, field, value, depth + field.is_container)
        except FieldError as err:
            err.within(key)
            raise


def _set(message: Any, field: _Field, value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise FieldError(f"nests values deeper than {MAX_DEPTH} levels")
    if field.is_repeated:
        _extend(getattr(message, field.name), field, value, depth)
    elif field.to_scalar is not None:
        setattr(message, field.name, field.to_scalar(value))
    else:
        part = getattr(message, field.name)
        part.SetInParent()
        fill(part, value, depth=depth)


def _extend(items: Any, field: _Field, values: object, depth: int) -> None:
    if not isinstance(values, list):
        raise FieldError("must be a JSON array")
    for index, value in enumerate(values):
        try:
            if field.to_scalar is not None:
                items.append(field.to_scalar(value))
            else:
                fill(items.add(), value, depth=depth)
        except FieldError as err:
            err.within(f"[{index}]")
            raise


@cache
def _fields(descriptor: Descriptor) -> dict[str, _Field]:
    """By both names that protobuf's JSON form has for a field; OTLP/JSON has the lowerCamelCase one."""
    found: dict[str, _Field] = {}
    for field in descriptor.fields:
        found[field.json_name] = found[field.name] = _Field(
            name=field.name,
            is_repeated=field.is_repeated,
            is_container=field.message_type is not None and field.message_type.name in _CONTAINERS,
            to_scalar=_converter(field),
        )
    return found


def _converter(field: FieldDescriptor) -> Callable[[object], Scalar] | None:
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return None
        case FieldDescriptor.TYPE_STRING:
            return _text
        case FieldDescriptor.TYPE_BOOL:
            return _bool
        case FieldDescriptor.TYPE_DOUBLE | FieldDescriptor.TYPE_FLOAT:
            return _float
        case FieldDescriptor.TYPE_BYTES:
            return partial(_id, length=16 if field.name == "trace_id" else 8) if field.name in HEX_FIELDS else _bytes
        case FieldDescriptor.TYPE_ENUM:
            values = field.enum_type.values if field.enum_type is not None else ()
            return partial(_enum, names={value.name: value.number for value in values})
        case _:
            low, high = _INTEGER_RANGES[field.type]
            return partial(_integer, low=low, high=high)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FieldError("must be a string")
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise FieldError("must be true or false")
    return value


def _float(value: object) -> float:
    if isinstance(value, str):
        if value in _NOT_FINITE:
            return _NOT_FINITE[value]
        if _NUMBER.fullmatch(value):
            return float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise FieldError("must be a number")


def _enum(value: object, *, names: Mapping[str, int]) -> int:
    """OTLP/JSON has integers; protobuf's own JSON form, which many a library writes, has the names of the values."""
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        if value not in names:
            raise FieldError("must be an integer or the name of a value of its enum")
        return names[value]
    low, high = _INT32
    return _integer(value, low=low, high=high)


def _integer(value: object, *, low: int, high: int) -> int:
    if isinstance(value, str):
        value = int(value) if _INTEGER.fullmatch(value) else None
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise FieldError("must be an integer")
    if not low <= value <= high:
        raise FieldError(f"must be an integer between {low} and {high}")
    return value


def _id(value: object, *, length: int) -> bytes:
    text = _text(value)
    try:
        if len(text) in {0, 2 * length}:
            return bytes.fromhex(text)
        raw = base64.b64decode(text, validate=True)
    except ValueError as err:
        raise FieldError(f"must be {2 * length} hex digits") from err
    if len(raw) != length:
        raise FieldError(f"must be {2 * length} hex digits")
    return raw


def _bytes(value: object) -> bytes:
    text = _text(value).translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as err:
        raise FieldError("must be base64") from err
