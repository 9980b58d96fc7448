"""Taking spans out of an ExportTraceServiceRequest, and adding attributes to one, on the wire.

Nothing is decoded and encoded again: what stays and what is taken out are the bytes received, each span with copies of
the resource, scope and schema URL that it came under, unknown fields included. Only the lengths of the messages around
a cut are written anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from collector.errors import MalformedRequestError
from collector.relay.wire import BYTES, Field, fields, varint

AttributeValue: TypeAlias = str | float

_PATH = (1, 2, 2)
"""request.resource_spans, .scope_spans, .spans"""
_SPAN_LEVEL = len(_PATH) - 1
_ATTRIBUTES = 9
_KEY = 1


def cut(body: bytes, indices: Collection[int]) -> tuple[bytes | None, list[bytes]]:
    """The request without the spans of these indices (None: no span is left), and each of them as a request of its own.

    Spans are counted through the whole request, from 0. Raises MalformedRequestError for what is not protobuf.
    """
    cutter = _Cutter(frozenset(indices))
    rest, _ = cutter.cut(memoryview(body), 0)
    if not cutter.taken:
        return body, []
    return (rest if cutter.left else None), [cutter.taken[index] for index in sorted(cutter.taken)]


def with_attributes(request: bytes, attributes: Mapping[str, AttributeValue]) -> bytes:
    """A request of one span, with these attributes behind its own. A key that the span has already stays as it is."""
    return _inside(request, 0, attributes)


class _Cutter:
    def __init__(self, wanted: frozenset[int]) -> None:
        self._wanted = wanted
        self._next = 0
        self.left = 0
        self.taken: dict[int, bytes] = {}
        """Requests of one span, by the span's index."""

    def cut(self, message: memoryview, level: int) -> tuple[bytes, list[int]]:
        """What is left of the message, and the spans taken out of it, which are messages of this level by then."""
        found = list(fields(message))
        frame = b"".join(message[field.start : field.end] for field in found if not _is_on_path(field, level))
        framed = 0
        """How much of the frame lies before the field at hand."""
        rest: list[bytes | memoryview] = []
        taken: list[int] = []
        for field in found:
            whole = message[field.start : field.end]
            if not _is_on_path(field, level):
                rest.append(whole)
                framed += len(whole)
            elif level == _SPAN_LEVEL:
                if self._next in self._wanted:
                    self.taken[self._next] = b"".join((frame[:framed], whole, frame[framed:]))
                    taken.append(self._next)
                else:
                    self.left += 1
                    rest.append(whole)
                self._next += 1
            else:
                left = self.left
                inner, gone = self.cut(message[field.value_start : field.end], level + 1)
                for index in gone:
                    around = (frame[:framed], *_wrapped(self.taken[index], level), frame[framed:])
                    self.taken[index] = b"".join(around)
                taken += gone
                if not gone:
                    rest.append(whole)
                elif self.left > left:
                    rest += _wrapped(inner, level)
        return b"".join(rest), taken


def _inside(message: bytes, level: int, attributes: Mapping[str, AttributeValue]) -> bytes:
    if level > _SPAN_LEVEL:
        known = set(_keys(message))
        fresh = {key: value for key, value in attributes.items() if key.encode() not in known}
        return message + b"".join(_attribute(key, value) for key, value in fresh.items())
    field = next((field for field in fields(message) if _is_on_path(field, level)), None)
    if field is None:
        raise MalformedRequestError("The request has no span to add attributes to.")
    inner = _inside(message[field.value_start : field.end], level + 1, attributes)
    return b"".join((message[: field.start], *_wrapped(inner, level), message[field.end :]))


def _keys(span: bytes) -> list[bytes]:
    found = []
    for field in fields(span):
        if field.number == _ATTRIBUTES and field.wire_type == BYTES:
            pair = span[field.value_start : field.end]
            found += [pair[part.value_start : part.end] for part in fields(pair) if part.number == _KEY]
    return found


def _attribute(key: str, value: AttributeValue) -> bytes:
    any_value = AnyValue(string_value=value) if isinstance(value, str) else AnyValue(double_value=value)
    pair = KeyValue(key=key, value=any_value).SerializeToString()
    return b"".join((varint(_ATTRIBUTES << 3 | BYTES), varint(len(pair)), pair))


def _wrapped(inner: bytes, level: int) -> tuple[bytes, bytes, bytes]:
    return varint(_PATH[level] << 3 | BYTES), varint(len(inner)), inner


def _is_on_path(field: Field, level: int) -> bool:
    return field.number == _PATH[level] and field.wire_type == BYTES
