"""Which dialects know a span, asked of each of them once for all spans that look alike.

There are dozens of dialects, and the spans of one instrumentation all have the same attributes. So the answer for a
span is remembered under what the dialects looked at to give it: the scope's name, the attributes' keys, and those
values that some dialect asked for, which a stand-in for the span notes while they sniff. A span of which they look at
anything else, and one with events, is sniffed each time. What is remembered is bounded; forgetting costs time only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from collector.telemetry.records import Attributes, AttributeValue, Span

AnswerT = TypeVar("AnswerT")

_MAX_SHAPES = 2048
_MAX_ANSWERS = 64
"""For one shape; more would mean that a dialect looks at values that are different each time."""
_MAX_KEYS = 256
_MAX_VALUE = 256

_ABSENT = "\0absent"
_OTHER_TYPE = "\0no text"
_SPAN, _RESOURCE, _NAME = "span", "resource", "name"
_Read = tuple[str, str]
"""Where a value was read, and its key."""


@dataclass(slots=True)
class _Shape(Generic[AnswerT]):
    """Spans of one scope with the same attribute keys."""

    reads: tuple[_Read, ...] = ()
    """Of the span's attributes only those that spans of this shape have."""
    answers: dict[tuple[AttributeValue, ...], AnswerT] = field(default_factory=dict)


class SniffMemory(Generic[AnswerT]):
    """`ask(span)`, a pure function of a span, asked once for spans that are alike in all that it looks at."""

    def __init__(self, ask: Callable[[Span], AnswerT]) -> None:
        self._ask = ask
        self._shapes: dict[tuple[str, ...], _Shape[AnswerT]] = {}

    def of(self, span: Span) -> AnswerT:
        attributes = span.attributes
        if span.events or len(attributes) > _MAX_KEYS:
            return self._ask(span)
        key = (span.scope.name, *attributes)
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = _Shape()
        values = _values(span, shape.reads)
        if values is None:
            return self._ask(span)
        answer = shape.answers.get(values)
        return answer if answer is not None else self._learn(span, shape)

    def _learn(self, span: Span, shape: _Shape[AnswerT]) -> AnswerT:
        watched = _Watched(span)
        answer = self._ask(cast("Span", watched))  # it has what a sniff may look at, and says what was looked at
        if watched.is_beyond or answer is None:
            return answer
        asked = {read for read in watched.reads if read[0] != _SPAN or read[1] in span.attributes}
        reads = tuple(sorted({*shape.reads, *asked}))
        if reads != shape.reads or len(shape.answers) >= _MAX_ANSWERS:
            # What was learnt from fewer values may not hold for all that share those.
            shape.reads = reads
            shape.answers.clear()
        values = _values(span, reads)
        if values is not None:
            shape.answers[values] = answer
        return answer


def _values(span: Span, reads: Sequence[_Read]) -> tuple[AttributeValue, ...] | None:
    """None where one of them is too large, or no value to be found again by."""
    found: list[AttributeValue] = []
    for where, key in reads:
        value: AttributeValue
        if where == _SPAN:
            value = span.attributes[key]
        elif where == _NAME:
            value = span.name
        else:
            value = span.resource.attributes.get(key, _ABSENT)
        if type(value) is str:
            if len(value) > _MAX_VALUE:
                return None
        elif isinstance(value, (list, dict, bytes)):
            return None
        else:
            value = repr(value) + _OTHER_TYPE  # True, 1 and 1.0 are equal, and are not the same to a dialect
        found.append(value)
    return tuple(found)


class _Watched:
    """A span that notes what is asked of it."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self.reads: set[_Read] = set()
        self.is_beyond = False
        """Something was looked at that spans of one shape need not share."""

    @property
    def attributes(self) -> Attributes:
        return _WatchedValues(self._span.attributes, _SPAN, self.reads)

    @property
    def name(self) -> str:
        self.reads.add((_NAME, ""))
        return self._span.name

    @property
    def scope(self) -> Any:
        return _WatchedScope(self)

    @property
    def resource(self) -> Any:
        return _WatchedResource(self)

    @property
    def events(self) -> tuple[()]:
        return ()  # spans with events never come here

    def __getattr__(self, field_name: str) -> Any:
        self.is_beyond = True
        return getattr(self._span, field_name)


class _WatchedScope:
    def __init__(self, watched: _Watched) -> None:
        self._watched = watched
        self.name = watched._span.scope.name  # noqa: SLF001 - two classes of one thing

    def __getattr__(self, field_name: str) -> Any:
        self._watched.is_beyond = True
        return getattr(self._watched._span.scope, field_name)  # noqa: SLF001 - same


class _WatchedResource:
    """Which keys it has is not part of the shape, so whoever lists them looks beyond."""

    def __init__(self, watched: _Watched) -> None:
        self._watched = watched

    @property
    def attributes(self) -> Attributes:
        watched = self._watched
        return _WatchedValues(watched._span.resource.attributes, _RESOURCE, watched.reads, beyond=watched)  # noqa: SLF001

    def __getattr__(self, field_name: str) -> Any:
        self._watched.is_beyond = True
        return getattr(self._watched._span.resource, field_name)  # noqa: SLF001 - same


class _WatchedValues(Mapping[str, AttributeValue]):
    """Keys are part of a span's shape; a value that is read is noted by its key."""

    def __init__(self, values: Attributes, where: str, reads: set[_Read], *, beyond: _Watched | None = None) -> None:
        self._values = values
        self._where = where
        self._reads = reads
        self._beyond = beyond

    def __getitem__(self, key: str) -> AttributeValue:
        self._reads.add((self._where, key))
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        if self._beyond is not None:
            self._reads.add((self._where, str(key)))
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        if self._beyond is not None:
            self._beyond.is_beyond = True
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
