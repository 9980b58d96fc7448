"""One turn while it is put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.assembly.items import Items
from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.segments import Segment
from collector.model import GapKind, Turn


@dataclass(slots=True, eq=False)
class Draft:
    """One turn in the making."""

    user_text: str | None = None
    segments: list[Segment] = field(default_factory=list)
    calls: list[Node] = field(default_factory=list)
    tools: list[Node] = field(default_factory=list)
    handoffs: list[Node] = field(default_factory=list)
    items: Items = field(default_factory=Items)
    answer: str | None = None
    kept: str | None = None
    """The turn's answer as a later turn replays it: of several that ran side by side, the one that the user saw."""
    anchors: set[bytes] = field(default_factory=set)
    absorbed: set[bytes] = field(default_factory=set)
    """Digests of the lists whose messages after the user's are in the items already."""
    gaps: set[GapKind] = field(default_factory=set)
    is_unseen: bool = False
    seen_by: Node | None = None
    """For a turn known from a replay only: the call that replayed it."""
    has_answer: bool = False
    """Some call answered without asking for a tool."""
    turn: tuple[frozenset[int], Turn] | None = None
    """What was made of the draft as it is, and which of its wrappers were around other turns as well."""
    _wrappers: list[Node] | None = None

    @property
    def trace_ids(self) -> set[str]:
        return {segment.trace_id for segment in self.segments}

    @property
    def response_ids(self) -> set[str]:
        return {node.operation.response_id for node in self.calls if node.operation.response_id}

    @property
    def wrappers(self) -> list[Node]:
        """Agent-like spans around what the turn did, outermost first."""
        if self._wrappers is None:
            found: dict[int, Node] = {}
            for segment in self.segments:
                for node in (*segment.outer, segment.entry):
                    found.setdefault(id(node), node)
            seen: set[int] = set()
            for call in self.calls:
                around: list[Node] = []
                for node in call.ancestors():
                    if id(node) in seen:
                        break  # and so is everything above it
                    seen.add(id(node))
                    around.append(node)
                for node in reversed(around):
                    if node.kind in AGENT_LIKE and not node.is_duplicate:
                        found.setdefault(id(node), node)
            self._wrappers = list(found.values())
        return self._wrappers

    def copy(self) -> Draft:
        """One that changes by itself, items included; nodes and segments are shared, since those change no more."""
        return Draft(
            user_text=self.user_text,
            segments=list(self.segments),
            calls=list(self.calls),
            tools=list(self.tools),
            handoffs=list(self.handoffs),
            items=self.items.copy(),
            answer=self.answer,
            kept=self.kept,
            anchors=set(self.anchors),
            absorbed=set(self.absorbed),
            gaps=set(self.gaps),
            is_unseen=self.is_unseen,
            seen_by=self.seen_by,
            has_answer=self.has_answer,
            _wrappers=self._wrappers,
        )

    def become(self, other: Draft) -> None:
        """Take over all that the other one holds, which is not to be used any more."""
        for name in Draft.__slots__:
            setattr(self, name, getattr(other, name))

    def forget_turn(self) -> None:
        """The draft is about to change."""
        self.turn = self._wrappers = None
