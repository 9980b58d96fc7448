"""What was learnt about spans that look alike: whether they are targets of turns as a rule.

Children arrive before their parents, so a span often has to be held or let go before anybody can see what is around
it. What its like turned out to be says it then. Until that is known, and where it differs from time to time, the answer
is None. Bounded: the shapes that were not met for longest go.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

_MAX_SHAPES = 2048
_MAX_SEEN = 64
"""Above it both counts are halved: what was once is outweighed by what is."""
_CLEAR = 4
"""So many times as often one as the other."""
_ENOUGH_OTHERS = 3
"""A span that may well be a target is let go only once so many like it were none."""


@dataclass(slots=True)
class Shape:
    targets: int = 0
    others: int = 0


class ShapeLedger:
    def __init__(self, known: Iterable[tuple[bytes, int, int]] = ()) -> None:
        self._shapes: OrderedDict[bytes, Shape] = OrderedDict(
            (key, Shape(targets, others)) for key, targets, others in known
        )
        self._changed: set[bytes] = set()
        self._gone: set[bytes] = set()

    def is_target(self, key: bytes) -> bool | None:
        shape = self._shapes.get(key)
        if shape is None:
            return None
        if shape.targets and shape.targets >= _CLEAR * shape.others:
            return True
        if shape.others >= _ENOUGH_OTHERS and shape.others >= _CLEAR * shape.targets:
            return False
        return None

    def learn(self, key: bytes, *, is_target: bool, takes_back: bool = False) -> None:
        """`takes_back`: this very span was counted as no target before."""
        shape = self._shapes.setdefault(key, Shape())
        self._shapes.move_to_end(key)
        if is_target:
            shape.targets += 1
            shape.others -= int(takes_back and shape.others > 0)
        else:
            shape.others += 1
        if shape.targets + shape.others > _MAX_SEEN:
            shape.targets, shape.others = shape.targets // 2, shape.others // 2
        self._changed.add(key)
        while len(self._shapes) > _MAX_SHAPES:
            oldest, _ = self._shapes.popitem(last=False)
            self._gone.add(oldest)

    def take_changes(self) -> tuple[list[tuple[bytes, int, int]], list[bytes]]:
        """Since the last call: what is to be written, and what is to be forgotten."""
        changed = [(key, shape.targets, shape.others) for key in self._changed if (shape := self._shapes.get(key))]
        gone = [key for key in self._gone if key not in self._shapes]
        self._changed.clear()
        self._gone.clear()
        return changed, gone
