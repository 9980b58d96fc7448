"""Operations and messages to bytes and back, with everything that repeats replaced by a number.

Messages, message chains, system instructions, tool definitions and resources are stored once each by
`collector.live.contents`; a stored operation (a *fragment*: what one span or one log record says) holds their numbers.
Fields have codes that never change, like protobuf field numbers; a field at its default is not stored, so a field that
is added later reads as absent from older fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from sys import intern
from typing import Any, Protocol, TypeVar

from collector.live.packing import pack, unpack
from collector.model import Agent, GapKind, ToolDefinition
from collector.operation import (
    Chain,
    CompactionPart,
    EventMessage,
    MediaPart,
    Message,
    Operation,
    OperationKind,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)

ValueT = TypeVar("ValueT")

FIELD_CODES = {
    "trace_id": 1,
    "span_id": 2,
    "dialect": 3,
    "kind": 4,
    "name": 5,
    "parent_span_id": 6,
    "start_ns": 7,
    "end_ns": 8,
    "service": 9,
    "scope": 10,
    "resource": 11,
    "conversation_id": 12,
    "conversation_id_rank": 13,
    "response_id": 14,
    "previous_response_id": 15,
    "model": 16,
    "provider": 17,
    "agent": 18,
    "system_instructions": 19,
    "tool_definitions": 20,
    "input": 21,
    "input_is_delta": 22,
    "output": 23,
    "tool_name": 24,
    "call_id": 25,
    "arguments": 26,
    "result": 27,
    "has_arguments": 28,
    "has_result": 29,
    "from_agent": 30,
    "to_agent": 31,
    "is_error": 32,
    "error": 33,
    "usage": 34,
    "is_internal": 35,
    "gaps": 36,
    "events": 37,
    "is_stand_in": 38,
}
_INPUT = FIELD_CODES["input"]
_OUTPUT = FIELD_CODES["output"]
_EVENTS = FIELD_CODES["events"]
_SINGLE_CONTENTS = tuple(FIELD_CODES[name] for name in ("resource", "system_instructions", "tool_definitions"))

_PARTS: tuple[tuple[type[Any], attrgetter[Any]], ...] = (
    (TextPart, attrgetter("text")),
    (ReasoningPart, attrgetter("text")),
    (ToolCallPart, attrgetter("name", "arguments", "call_id")),
    (ToolResultPart, attrgetter("result", "call_id", "name", "is_error")),
    (MediaPart, attrgetter("modality", "mime_type", "reference")),
    (CompactionPart, attrgetter("text")),
)
_PART_CODES = {part: (code, getter) for code, (part, getter) in enumerate(_PARTS)}


class ContentWriter(Protocol):
    """Stores what repeats; equal content has equal numbers."""

    def message(self, message: Message) -> int: ...

    def shared(self, value: object, encode: Callable[[Any], bytes]) -> int:
        """The content that `encode` makes of a value that many operations share, always in the same way."""

    def chain(self, chain: Chain) -> int: ...


class ContentReader(Protocol):
    def value(self, number: int, decode: Callable[[bytes], ValueT]) -> ValueT:
        """A content that many fragments hold, decoded once for all of them, always in the same way."""

    def message(self, number: int) -> Message: ...

    def chain(self, number: int) -> Chain: ...


@dataclass(frozen=True, slots=True)
class References:
    """The numbers that a fragment holds, each as often as it is held."""

    contents: tuple[int, ...]
    nodes: tuple[int, ...]


def encode_message(message: Message) -> bytes:
    parts = []
    for part in message.parts:
        code, getter = _PART_CODES[type(part)]
        fields = getter(part)
        parts.append([code, *fields] if isinstance(fields, tuple) else [code, fields])
    return pack([message.role, parts, message.name, message.digest.hex(), message.gaps])


def decode_message(data: bytes) -> Message:
    role, parts, name, digest, gaps = unpack(data)
    return Message(
        role=Role(role),
        parts=tuple(_part(code, fields) for code, *fields in parts),
        name=name,
        digest=bytes.fromhex(digest),
        gaps=tuple(GapKind(gap) for gap in gaps),
    )


def _part(code: int, fields: Sequence[Any]) -> Part:
    part: Part = _PARTS[code][0](*fields)
    return part


def encode_fragment(operation: Operation, contents: ContentWriter) -> tuple[bytes, References]:
    """The fragment's bytes: equal for equal operations, so a span that is sent again gives the same ones."""
    # Absent values are shared constants, so identity tells them.
    plain = zip(_PLAIN, _GET_PLAIN(operation), strict=True)
    values: list[Any] = [item for (code, default), value in plain if value is not default for item in (code, value)]
    held: list[Any] = []
    for (code, default, encode), value in zip(_ENCODED, _GET_ENCODED(operation), strict=True):
        if value is not default:
            held += (code, encode(value, contents))
    values += held
    return pack(values), _references(held)


def decode_fragment(data: bytes, contents: ContentReader) -> Operation:
    fields: dict[str, Any] = {}
    for code, value in _pairs(unpack(data)):
        known = _DECODED.get(code)
        if known is not None:
            name, decode = known
            fields[name] = value if decode is None else decode(value, contents)
    return Operation(**fields)


def references_of(data: bytes) -> References:
    return _references(unpack(data))


def _references(values: list[Any]) -> References:
    contents: list[int] = []
    nodes: list[int] = []
    for code, value in _pairs(values):
        if code == _INPUT:
            nodes.append(value)
        elif code == _OUTPUT:
            contents.extend(value)
        elif code == _EVENTS:
            contents.extend(number for _, _, number, _ in value)
        elif code in _SINGLE_CONTENTS:
            contents.append(value)
    return References(contents=tuple(contents), nodes=tuple(nodes))


def _pairs(values: list[Any]) -> Iterator[tuple[int, Any]]:
    return zip(values[::2], values[1::2], strict=True)


def _message_numbers(messages: Sequence[Message], contents: ContentWriter) -> list[int]:
    return [contents.message(message) for message in messages]


def _event_rows(events: Sequence[EventMessage], contents: ContentWriter) -> list[list[Any]]:
    return [[event.time_ns, event.position, contents.message(event.message), event.is_output] for event in events]


def _pack_mapping(mapping: Mapping[str, Any]) -> bytes:
    return pack(dict(mapping))


def _pack_definitions(tools: Sequence[ToolDefinition]) -> bytes:
    return pack([[tool.name, tool.description, tool.parameters] for tool in tools])


def _definitions(data: bytes) -> tuple[ToolDefinition, ...]:
    return tuple([ToolDefinition(*fields) for fields in unpack(data)])


_Encode = Callable[[Any, ContentWriter], Any]
_Decode = Callable[[Any, ContentReader], Any]

_ENCODERS: dict[str, _Encode] = {
    "agent": lambda agent, _: [agent.name, agent.id, agent.version],
    "usage": lambda usage, _: [usage.input_tokens, usage.output_tokens],
    "input": lambda chain, contents: contents.chain(chain),
    "output": _message_numbers,
    "events": _event_rows,
    "resource": lambda resource, contents: contents.shared(resource, _pack_mapping),
    "system_instructions": lambda text, contents: contents.shared(text, pack),
    "tool_definitions": lambda tools, contents: contents.shared(tools, _pack_definitions),
}
_REPEATED = (
    "trace_id", "dialect", "name", "parent_span_id", "service", "scope", "conversation_id", "model", "provider",
    "tool_name",
)  # fmt: skip
"""Texts that many operations have in common."""


def _one_object(text: Any, _: ContentReader) -> Any:
    return intern(text) if text.__class__ is str else text


_DECODERS: dict[str, _Decode] = {
    **dict.fromkeys(_REPEATED, _one_object),
    "kind": lambda value, _: OperationKind(value),
    "gaps": lambda values, _: tuple(GapKind(value) for value in values),
    "agent": lambda values, _: Agent(*values),
    "usage": lambda values, _: Usage(*values),
    "input": lambda number, contents: contents.chain(number),
    "output": lambda numbers, contents: tuple(contents.message(number) for number in numbers),
    "events": lambda rows, contents: tuple(
        EventMessage(time_ns=time_ns, position=position, message=contents.message(number), is_output=is_output)
        for time_ns, position, number, is_output in rows
    ),
    "resource": lambda number, contents: contents.value(number, unpack),
    "system_instructions": lambda number, contents: contents.value(number, unpack),
    "tool_definitions": lambda number, contents: contents.value(number, _definitions),
}

_DECODED = {code: (name, _DECODERS.get(name)) for name, code in FIELD_CODES.items()}
_BARE = Operation(trace_id="", span_id="", dialect="", kind=OperationKind.OTHER)
_REQUIRED = object()
_ALWAYS = frozenset({"trace_id", "span_id", "dialect", "kind"})
_DEFAULTS = {name: _REQUIRED if name in _ALWAYS else getattr(_BARE, name) for name in FIELD_CODES}
_PLAIN_NAMES = [name for name in FIELD_CODES if name not in _ENCODERS]
_PLAIN = tuple((FIELD_CODES[name], _DEFAULTS[name]) for name in _PLAIN_NAMES)
_GET_PLAIN = attrgetter(*_PLAIN_NAMES)
_ENCODED = tuple((FIELD_CODES[name], _DEFAULTS[name], encode) for name, encode in _ENCODERS.items())
_GET_ENCODED = attrgetter(*_ENCODERS)
