"""Which items of a turn the messages of a replay tell of once more.

Each call of a model replays the turn so far. The n-th sighting of the same thing in one replay is the n-th item of it,
so a replay adds nothing and a true repetition stays. Calls match by id, else by name and arguments, in order; results
by id, else in the order in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collector.assembly.items import CallItem, Item, Items, TextItem
from collector.assembly.said import has_calls
from collector.messages.values import canonical, squash
from collector.model import JsonValue
from collector.operation import Message, Role, ToolCallPart, ToolResultPart


class ReplayMatch:
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
        elif self._is_answered and has_calls(message):
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


def _same_arguments(one: JsonValue, two: JsonValue) -> bool:
    return one is None or two is None or canonical(one) == canonical(two)
