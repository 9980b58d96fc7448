"""Reading protobuf by its wire format, without the message classes: for cutting requests and reading google.rpc.Status.

It walks over the fields of one message level and never copies or decodes what it does not need. It does not check that
a message is valid beyond the level it walks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from collector.errors import MalformedRequestError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Field(NamedTuple):
    number: int
    wire_type: int
    start: int
    """Where the field's tag starts."""
    value_start: int
    """Where the value starts: after the tag, and after the length of a BYTES field."""
    end: int


def fields(message: bytes | memoryview) -> Iterator[Field]:
    """Raises MalformedRequestError where the message ends in the middle of a field or holds a wire type unknown."""
    position, size = 0, len(message)
    while position < size:
        start = position
        tag, position = read_varint(message, position)
        wire_type = tag & 7
        match wire_type:
            case 0:
                value_start = position
                _, position = read_varint(message, position)
            case 1 | 5:
                value_start = position
                position += 8 if wire_type == FIXED64 else 4
            case 2:
                length, value_start = read_varint(message, position)
                position = value_start + length
            case _:
                raise MalformedRequestError(f"The protobuf message has the unknown wire type {wire_type}.")
        if position > size:
            raise MalformedRequestError("The protobuf message ends in the middle of a field.")
        yield Field(tag >> 3, wire_type, start, value_start, position)


def read_varint(message: bytes | memoryview, position: int) -> tuple[int, int]:
    """Value and the position after it."""
    value = shift = 0
    while shift < 70:
        if position >= len(message):
            raise MalformedRequestError("The protobuf message ends in the middle of a number.")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise MalformedRequestError("The protobuf message has a number of more than ten bytes.")


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
