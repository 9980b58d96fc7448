"""The steps of one turn while they are put together from several sources that overlap.

Each call of a model replays the turn so far and adds to it; tool spans tell of the same calls once more. An item is one
text, or one tool call with its result. The n-th sighting of the same thing in one replay is the n-th item of it, so a
replay adds nothing and a true repetition stays. Calls match by id, else by name and arguments, else by name, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from collector.assembly.joint_results import with_joint_results
from collector.messages.streamed import in_whole
from collector.messages.values import canonical, join_texts, squash
from collector.model import GapKind, JsonValue
from collector.operation import Message, Role, TextPart, ToolCallPart, ToolResultPart


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

    def add_output(self, messages: Sequence[Message], *, time_ns: int, span_id: str, agent: str | None) -> None:
        """What a model call gave: new, unless a call with the same id is known. A tool that the provider ran has its
        result in it.
        """
        for message in messages:
            if message.role is Role.ASSISTANT:
                self._add_said(message, time_ns=time_ns, span_id=span_id, agent=agent)
            for part in message.parts:
                call = self.call_of(part.call_id) if isinstance(part, ToolResultPart) else None
                is_new = call is not None and not call.has_result
                if isinstance(part, ToolResultPart) and call is not None and is_new and part.result is not None:
                    self.give_result(call, part.result, is_error=part.is_error, span_id=span_id, agent=agent)

    def absorb(
        self,
        messages: Iterable[Message],
        *,
        time_ns: int,
        span_id: str,
        agent: str | None,
        is_delta: bool = False,
        goes_on: bool = False,
        fill_only: bool = False,
    ) -> None:
        """A replay of the turn so far; or only its latest messages (`is_delta`); or those that follow on what an
        earlier replay held (`goes_on`). `fill_only` adds no calls or texts.
        """
        replay = _Replay(self, is_delta=is_delta, goes_on=goes_on)
        shared: set[int] = set()
        for message in with_joint_results(in_whole(messages), shared):
            self.gaps.update(message.gaps)
            replay.look_at(message)
            if message.role is Role.ASSISTANT:
                self._absorb_said(message, replay, time_ns=time_ns, span_id=span_id, agent=agent, fill_only=fill_only)
            for part in message.parts:
                if isinstance(part, ToolResultPart):
                    call = self._absorb_result(
                        part, replay, time_ns=time_ns, span_id=span_id, agent=agent, fill_only=fill_only
                    )
                    if call is not None and id(part) in shared and call.result == part.result:
                        call.is_joint = True

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

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _add_said(self, message: Message, *, time_ns: int, span_id: str, agent: str | None) -> None:
        self.gaps.update(message.gaps)
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        whole = _text(message)
        text = whole.strip()
        if text and not (calls and self._is_known_id(calls)):
            is_piece = whole[:1].isspace()
            self._append(TextItem(text, time_ns, span_id, agent, asks=bool(calls), is_piece=is_piece))
        group = self._next_group() if calls else None
        for part in calls:
            if part.name and self.call_of(part.call_id) is None:
                self._append(_call(part, time_ns=time_ns, span_id=span_id, agent=agent, group=group))

    def _is_known_id(self, calls: Sequence[ToolCallPart]) -> bool:
        return any(self.call_of(part.call_id) is not None for part in calls)

    def _append(self, item: TextItem | CallItem, *, before: CallItem | None = None) -> None:
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

    def _repeated(self, item: TextItem | CallItem, part: ToolCallPart | None = None) -> None:
        if not item.is_replayed:
            item.is_replayed = True
            if item in self.unreplayed:
                self.unreplayed.remove(item)
        if isinstance(item, CallItem) and part is not None:
            _fill_call(item, part)
            if item.call_id:
                self._by_id.setdefault(item.call_id, item)

    def _absorb_said(
        self, message: Message, replay: _Replay, *, time_ns: int, span_id: str, agent: str | None, fill_only: bool
    ) -> None:
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        text = _text(message).strip()
        known = replay.text(text) if text else None
        if known is not None:
            self._repeated(known)
        found = [replay.call(part) for part in calls]
        if text and known is None and not fill_only:
            new = TextItem(text, time_ns, span_id, agent, is_replayed=True, asks=bool(calls))
            self._append(new, before=next(filter(None, found), None))
            replay.took(new)
        group = next((call.group for call in found if call is not None), None)
        for position, (part, call) in enumerate(zip(calls, found, strict=True)):
            if call is not None:
                self._repeated(call, part)
                continue
            if fill_only:
                continue
            group = self._next_group() if group is None else group
            new_call = _call(part, time_ns=time_ns, span_id=span_id, agent=agent, group=group)
            new_call.is_replayed = True
            self._append(new_call, before=next(filter(None, found[position:]), None))
            found[position] = new_call
            replay.took(new_call)
        replay.asked_in_order([call for call in found if call is not None])

    def _absorb_result(
        self,
        part: ToolResultPart,
        replay: _Replay,
        *,
        time_ns: int,
        span_id: str,
        agent: str | None,
        fill_only: bool,
    ) -> CallItem | None:
        """The call that it was given to, if that had none."""
        call = replay.answered(part)
        if call is not None:
            is_new = not call.has_result and part.result is not None
            if is_new:
                self.give_result(call, part.result, is_error=part.is_error, span_id=span_id, agent=agent)
            call.is_error = call.is_error or part.is_error
            return call if is_new else None
        if fill_only or self._is_known_orphan(part):
            return None
        if part.result is None and not part.call_id and not part.name:
            self.gaps.add(GapKind.ORPHAN_RESULT)
            return None
        orphan = CallItem(
            part.name or "", None, time_ns, span_id, part.call_id, has_arguments=False, agent=agent, is_orphan=True
        )
        self.give_result(orphan, part.result, is_error=part.is_error, span_id=span_id, agent=agent)
        self.items.append(orphan)
        self.gaps.add(GapKind.ORPHAN_RESULT)
        return None

    def _is_known_orphan(self, part: ToolResultPart) -> bool:
        return any(
            call.is_orphan and call.call_id == part.call_id and canonical(call.result) == canonical(part.result)
            for call in self.calls
        )


class _Replay:
    """One pass over a replayed list: which items it has already been matched with."""

    def __init__(self, items: Items, *, is_delta: bool, goes_on: bool) -> None:
        self._items = items
        self._is_delta = is_delta
        self._pool = list(items.unreplayed if goes_on else items.items)
        self._taken: set[int] = set()
        self._answered: set[int] = set()
        self._asked: list[CallItem] = []
        """By the latest messages, up to the results that followed on them."""
        self._is_answered = False

    def look_at(self, message: Message) -> None:
        if message.role is Role.TOOL:
            self._is_answered = True
        elif self._is_answered and any(isinstance(part, ToolCallPart) for part in message.parts):
            self._asked, self._is_answered = [], False

    def took(self, item: Item) -> None:
        self._taken.add(id(item))
        if isinstance(item, CallItem):
            self._asked.append(item)

    def asked_in_order(self, calls: Sequence[CallItem]) -> None:
        """The calls of the latest message, some of which may have been known."""
        self._asked = [call for call in self._asked if call not in calls] + list(calls)

    def text(self, text: str) -> TextItem | None:
        wanted = squash(text)
        texts = [item for item in self._free() if isinstance(item, TextItem)]
        found = next((item for item in texts if squash(item.text) == wanted), None)
        if found is None:
            found = next((item for item in texts if item.is_piece and wanted.endswith(squash(item.text))), None)
            if found is not None:
                found.text, found.is_piece = text, False
        if found is not None:
            self.took(found)
        return found

    def call(self, part: ToolCallPart) -> CallItem | None:
        found = self._items.call_of(part.call_id)
        if found is not None and id(found) in self._taken:
            found = None
        if found is None:
            free = (item for item in self._free() if isinstance(item, CallItem) and not item.is_orphan)
            same = (call for call in free if call.name == part.name and _same_arguments(call.arguments, part.arguments))
            # Two ids of one call differ where an instrumentation mixes item and call ids; a delta holds no replays.
            found = next((c for c in same if not c.call_id or not part.call_id or not self._is_delta), None)
        if found is not None:
            self.took(found)
        return found

    def answered(self, part: ToolResultPart) -> CallItem | None:
        """The call that this result belongs to: by id, else the first that was asked for before it, else the one that
        is known to have this result, else the first of the turn without one.
        """
        found = self._items.call_of(part.call_id)
        if found is None:
            pools = (self._asked, self._with_result(part), self._items.unanswered)
            found = next((call for pool in pools if (call := self._by_order(pool, part)) is not None), None)
        if found is not None:
            self._answered.add(id(found))
        return found

    def _with_result(self, part: ToolResultPart) -> list[CallItem]:
        wanted = canonical(part.result)
        return [call for call in self._items.calls if call.has_result and canonical(call.result) == wanted]

    def _free(self) -> Iterator[Item]:
        return (item for item in self._pool if id(item) not in self._taken)

    def _by_order(self, pool: Sequence[CallItem], part: ToolResultPart) -> CallItem | None:
        free = [call for call in pool if id(call) not in self._answered]
        named = [call for call in free if part.name and call.name == part.name]
        return next(iter(named or ([] if part.name and any(c.name for c in free) else free)), None)


def _fill_call(call: CallItem, part: ToolCallPart) -> None:
    call.call_id = call.call_id or part.call_id
    is_begun = call.arguments == {} and bool(part.arguments)  # recorded before a stream's arguments had come
    if (call.arguments is None or is_begun) and part.arguments is not None:
        call.arguments, call.has_arguments = part.arguments, True


def _call(part: ToolCallPart, *, time_ns: int, span_id: str, agent: str | None, group: int | None) -> CallItem:
    return CallItem(
        name=part.name,
        arguments=part.arguments,
        time_ns=time_ns,
        span_id=span_id,
        call_id=part.call_id,
        has_arguments=part.arguments is not None,
        agent=agent,
        group=group,
    )


def _text(message: Message) -> str:
    return join_texts([part.text for part in message.parts if isinstance(part, TextPart) and part.text])


def _same_arguments(one: JsonValue, two: JsonValue) -> bool:
    return one is None or two is None or canonical(one) == canonical(two)
