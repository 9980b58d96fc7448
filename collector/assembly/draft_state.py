"""The turns of a conversation in the making, and the way back to what they were before its latest traces.

While a conversation grows, the segments of its main line stay as they are, but for those of its latest traces: spans
come late, and calls that stood alone are gone on from. So of the latest traces it is kept what their segments changed,
and where the line now differs, the turns go back to before that and follow the line from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeVar

from collector.assembly.draft import Draft
from collector.assembly.node import Node
from collector.assembly.segments import Segment


@dataclass(frozen=True, slots=True)
class Taken:
    """A segment, as it is to be made part of a turn."""

    segment: Segment
    shown: Sequence[Node]
    """Its calls that are shown."""
    passed: Mapping[int, int]
    """Of what `passed_on` found, what was passed on to this segment or its calls."""


Line = Sequence[Taken]

KeyT = TypeVar("KeyT")

_MARKS = 4
"""Traces that may be gone back over; where more changed, all turns are made anew."""


@dataclass(slots=True)
class _Mark:
    """What the state was when this many segments were followed, as far as it changed since."""

    position: int
    turns: list[Draft]
    drafts: dict[int, tuple[Draft, Draft]] = field(default_factory=dict)
    """By identity, with a copy of what it was; those that were begun since are gone, whatever they were."""
    anchors: list[tuple[bytes, Draft | None]] = field(default_factory=list)
    took: list[tuple[int, Draft | None]] = field(default_factory=list)
    filled: list[bytes] = field(default_factory=list)


class DraftState:
    """All changes of drafts go through here."""

    def __init__(self) -> None:
        self._line: list[Taken] = []
        self._marks: list[_Mark] = []
        self._turns: list[Draft] = []
        self._by_anchor: dict[bytes, Draft] = {}
        self._filled: set[bytes] = set()
        self._took: dict[int, Draft] = {}

    @property
    def turns(self) -> Sequence[Draft]:
        return self._turns

    @property
    def by_anchor(self) -> Mapping[bytes, Draft]:
        return self._by_anchor

    @property
    def filled(self) -> AbstractSet[bytes]:
        """Anchors up to which a replayed list has been looked at; what is before them is not looked at again."""
        return self._filled

    @property
    def took(self) -> Mapping[int, Draft]:
        """The turns of segments and calls, by identity."""
        return self._took

    def begin(self, turn: Draft, *, place: int | None = None) -> None:
        self._turns.insert(len(self._turns) if place is None else place, turn)
        if self._marks:
            self._marks[-1].drafts[id(turn)] = (turn, turn)

    def change(self, turn: Draft) -> Draft:
        """The draft, to be changed."""
        if self._marks and id(turn) not in self._marks[-1].drafts:
            before = turn.copy()
            before.turn = turn.turn
            self._marks[-1].drafts[id(turn)] = (turn, before)
        turn.forget_turn()
        return turn

    def name(self, anchor: bytes, turn: Draft) -> None:
        """Lists that go up to there are of this turn."""
        if self._marks:
            self._marks[-1].anchors.append((anchor, self._by_anchor.get(anchor)))
        self._by_anchor[anchor] = turn

    def name_if_new(self, anchor: bytes, turn: Draft) -> None:
        if anchor not in self._by_anchor:
            self.name(anchor, turn)

    def fill(self, anchor: bytes) -> None:
        if self._marks and anchor not in self._filled:
            self._marks[-1].filled.append(anchor)
        self._filled.add(anchor)

    def take(self, key: int, turn: Draft) -> None:
        """The segment or call belongs to this turn."""
        if self._marks:
            self._marks[-1].took.append((key, self._took.get(key)))
        self._took[key] = turn

    def follow(self, line: Line) -> Iterator[Taken]:
        """What of the line is to be taken now, after going back to where it leaves the one that was followed."""
        self._go_back(_common(self._line, line))
        first_mark = _start_of_latest(line)
        if first_mark > len(self._line):
            self._marks.clear()
        for position in range(len(self._line), len(line)):
            begins = not self._line or self._line[-1].segment.trace_id != line[position].segment.trace_id
            if position >= first_mark and (begins or not self._marks):
                self._marks.append(_Mark(position, list(self._turns)))
                del self._marks[:-_MARKS]
            self._line.append(line[position])
            yield line[position]

    def _go_back(self, position: int) -> None:
        while len(self._line) > position and self._marks:
            mark = self._marks.pop()
            for turn, before in mark.drafts.values():
                turn.become(before)
            _undo(self._by_anchor, mark.anchors)
            _undo(self._took, mark.took)
            self._filled.difference_update(mark.filled)
            self._turns = mark.turns
            del self._line[mark.position :]
        if len(self._line) > position:
            self._line, self._turns = [], []
            self._by_anchor, self._filled, self._took = {}, set(), {}


def _undo(mapping: dict[KeyT, Draft], before: Sequence[tuple[KeyT, Draft | None]]) -> None:
    for key, known in reversed(before):
        if known is None:
            del mapping[key]
        else:
            mapping[key] = known


def _common(one: Line, two: Line) -> int:
    """How many segments both begin with."""
    position = 0
    for before, now in zip(one, two, strict=False):
        if before.segment is not now.segment or before.shown != now.shown or before.passed != now.passed:
            break
        position += 1
    return position


def _start_of_latest(line: Line) -> int:
    """Where the segments of the latest traces begin, as many as there are marks."""
    left = _MARKS
    for position in range(len(line) - 1, 0, -1):
        if line[position].segment.trace_id != line[position - 1].segment.trace_id:
            left -= 1
            if not left:
                return position
    return 0
