"""The steps of one turn while they are put together from several sources that overlap.

An item is one text, one tool call with its result, or one handoff, however many spans and messages tell of it. What
messages add to the items is `absorb_messages`; what tool spans add is `pairing`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from collector.messages.values import canonical
from collector.model import GapKind, JsonValue
from collector.operation import ToolCallPart, ToolResultPart


@dataclass(slots=True, eq=False)
class TextItem:
    text: str
    time_ns: int
    span_id: str
    agent: str | None = None
    is_replayed: bool = False
    """Seen in a later input: the conversation went on from it."""
    asks: bool = False
    """Said in the same message as a tool call."""
    is_piece: bool = False
    """The end of a stream, of which an instrumentation recorded no more."""


@dataclass(slots=True, eq=False)
class CallItem:
    name: str
    arguments: JsonValue
    time_ns: int
    span_id: str
    call_id: str | None = None
    has_arguments: bool = True
    agent: str | None = None
    group: int | None = None
    result: JsonValue = None
    has_result: bool = False
    is_error: bool = False
    result_span_id: str | None = None
    result_agent: str | None = None
    result_order: int = 0
    tool: object | None = None
    """The tool's span, once one is matched."""
    is_orphan: bool = False
    """Only the result arrived."""
    is_replayed: bool = False
    is_joint: bool = False
    """The result is what several calls gave together, as the model was told it."""


@dataclass(slots=True, eq=False)
class HandoffItem:
    to_agent: str
    from_agent: str | None
    time_ns: int
    span_id: str


Item = TextItem | CallItem | HandoffItem

_FIELDS: dict[type[Item], attrgetter[Any]] = {
    kind: attrgetter(*(each.name for each in fields(kind))) for kind in (TextItem, CallItem, HandoffItem)
}
"""Copied by these, for `copy.copy` takes six times as long."""


class Items:
    """The items of one turn, in order."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.gaps: set[GapKind] = set()
        self.unreplayed: list[Item] = []
        """Texts and calls that no input has repeated yet, in order."""
        self.unanswered: list[CallItem] = []
        self._by_id: dict[str, CallItem] = {}
        self._groups = 0
        self._results = 0

    def copy(self) -> Items:
        """One that changes by itself."""
        new = Items()
        copies: dict[int, Any] = {id(item): type(item)(*_FIELDS[type(item)](item)) for item in self.items}
        new.items = list(copies.values())
        new.gaps = set(self.gaps)
        new.unreplayed = [copies[id(item)] for item in self.unreplayed]
        new.unanswered = [copies[id(item)] for item in self.unanswered]
        new._by_id = {call_id: copies[id(item)] for call_id, item in self._by_id.items()}
        new._groups, new._results = self._groups, self._results
        return new

    @property
    def calls(self) -> list[CallItem]:
        return [item for item in self.items if isinstance(item, CallItem)]

    @property
    def texts(self) -> list[TextItem]:
        return [item for item in self.items if isinstance(item, TextItem)]

    def call_of(self, call_id: str | None) -> CallItem | None:
        return self._by_id.get(call_id) if call_id else None

    def insert(self, item: Item) -> None:
        """By time: after everything that was there before it."""
        position = len(self.items)
        while position and self.items[position - 1].time_ns > item.time_ns:
            position -= 1
        self.items.insert(position, item)

    def give_result(
        self, call: CallItem, result: JsonValue, *, is_error: bool, span_id: str, agent: str | None
    ) -> None:
        self._results += 1
        if not call.has_result and call in self.unanswered:
            self.unanswered.remove(call)
        call.result, call.has_result = result, True
        call.is_error = call.is_error or is_error
        call.result_span_id, call.result_agent, call.result_order = span_id, agent, self._results

    def next_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def append(self, item: TextItem | CallItem, *, before: CallItem | None = None) -> None:
        """At the end; or `before` a call of the same message that was known when the rest of it was not."""
        if before is not None and before in self.items:
            self.items.insert(self.items.index(before), item)
        else:
            self.items.append(item)
        if not item.is_replayed:
            self.unreplayed.append(item)
        if isinstance(item, CallItem) and not item.is_orphan:
            self.unanswered.append(item)
            if item.call_id:
                self._by_id.setdefault(item.call_id, item)

    def repeat(self, item: TextItem | CallItem, part: ToolCallPart | None = None) -> None:
        """An input tells of the item once more; of a call, by this part, which may say more of it."""
        if not item.is_replayed:
            item.is_replayed = True
            if item in self.unreplayed:
                self.unreplayed.remove(item)
        if isinstance(item, CallItem) and part is not None:
            _fill_call(item, part)
            if item.call_id:
                self._by_id.setdefault(item.call_id, item)

    def has_orphan(self, part: ToolResultPart) -> bool:
        return any(
            call.is_orphan and call.call_id == part.call_id and canonical(call.result) == canonical(part.result)
            for call in self.calls
        )


def _fill_call(call: CallItem, part: ToolCallPart) -> None:
    call.call_id = call.call_id or part.call_id
    is_begun = call.arguments == {} and bool(part.arguments)  # recorded before a stream's arguments had come
    if (call.arguments is None or is_begun) and part.arguments is not None:
        call.arguments, call.has_arguments = part.arguments, True
