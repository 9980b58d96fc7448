"""Attributes out of the bytes of their key-value pairs; pairs that were seen lately are not decoded again.

Most attributes of a service's spans are the same from span to span: names, versions, models, tool definitions. Equal
bytes give the same key and the same value, which nobody may change. What is remembered is bounded in bytes: two
generations, of which the older goes when the younger is full, and what is used again moves to the younger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.common.v1 import common_pb2

from collector.telemetry.anyvalue import attributes_of
from collector.telemetry.records import AttributeValue
from collector.telemetry.repair import parse

_Pair = tuple[str, AttributeValue]

_KEY_VALUE: Any = common_pb2.KeyValue
_MAX_PAIR_BYTES = 8 * 1024
"""Longer ones are messages as a rule, new each time."""
_ENTRY_BYTES = 250
_SIGN = 1 << 63
_MAX_SHIFT = 63
_INTEGER = 0x18
_FIRST_FIELD, _SECOND_FIELD = 0x0A, 0x12
"""The tags of a pair's key and value; the first is a text's within a value, too."""


class AttributePairs:
    def __init__(self, *, max_bytes: int = 4 * 1024 * 1024) -> None:
        self._young: dict[bytes, _Pair] = {}
        self._old: dict[bytes, _Pair] = {}
        self._bytes = 0
        self._max_young_bytes = max_bytes // 2

    def attributes(self, pairs: Iterable[bytes]) -> dict[str, AttributeValue]:
        """Of equal keys the last counts. Raises MalformedRequestError."""
        young = self._young
        found: dict[str, AttributeValue] = {}
        for raw in pairs:
            pair = young.get(raw)
            if pair is None:
                pair = self._pair(raw)
                young = self._young
            found[pair[0]] = pair[1]
        return found

    def _pair(self, raw: bytes) -> _Pair:
        size = len(raw)
        if size > _MAX_PAIR_BYTES:
            return _plain_pair(raw) or _any_pair(raw)
        pair = self._old.get(raw) or _plain_pair(raw) or _any_pair(raw)
        self._bytes += 2 * size + _ENTRY_BYTES
        if self._bytes > self._max_young_bytes:
            self._old, self._young = self._young, {}
            self._bytes = 2 * size + _ENTRY_BYTES
        self._young[raw] = pair
        return pair


def _any_pair(raw: bytes) -> _Pair:
    pair = parse(_KEY_VALUE, raw, what="attribute")
    return pair.key, attributes_of((pair,))[pair.key]


def _plain_pair(raw: bytes) -> _Pair | None:
    """The pair, if it is a text or a number written as every serialiser writes it: key, then value, nothing else."""
    try:
        key_end = 2 + raw[1]
        if raw[0] != _FIRST_FIELD or raw[1] > 0x7F or raw[key_end] != _SECOND_FIELD:
            return None
        size, value_start = _varint(raw, key_end + 1)
        if value_start + size != len(raw):
            return None
        if raw[value_start] == _INTEGER:
            number, end = _varint(raw, value_start + 1)
            return (raw[2:key_end].decode(), number) if end == len(raw) and number < _SIGN else None
        if raw[value_start] != _FIRST_FIELD:
            return None
        size, start = _varint(raw, value_start + 1)
        if start + size != len(raw):
            return None
        return raw[2:key_end].decode(), raw[start:].decode()
    except (IndexError, UnicodeDecodeError):
        return None  # cut short, or text to be repaired


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """The number, and where it ends. IndexError where it has no end, or more bytes than a number may have."""
    number = raw[at]
    if number < 0x80:
        return number, at + 1
    number &= 0x7F
    shift = 7
    while shift <= _MAX_SHIFT:
        at += 1
        byte = raw[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7
    raise IndexError
