"""Values that were made of objects, to be had again while those objects are the same ones.

For pure functions of immutable objects only: what a value was made of is told by identity, so asking costs next to
nothing, and two objects that are equal are merely made twice. What was not asked for in a whole round goes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import is_
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class Memo(Generic[ValueT]):
    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[tuple[object, ...], ValueT]] = {}
        self._now: dict[Hashable, tuple[tuple[object, ...], ValueT]] = {}

    def begin_round(self) -> list[ValueT]:
        """What nobody asked for in the last round, and is gone now."""
        gone = [found[1] for key, found in self._last.items() if self._now.get(key) is not found]
        self._last, self._now = self._now, {}
        return gone

    def of(self, parts: tuple[object, ...], make: Callable[[], ValueT], *, under: Hashable = None) -> ValueT:
        """`make()` of these parts, under a condition that is told by its value.

        Of parts that begin with the same one, under the same condition, the latest are remembered.
        """
        key = (under, id(parts[0])) if parts else under
        found = self._now.get(key) or self._last.get(key)
        if found is None or len(found[0]) != len(parts) or not all(map(is_, found[0], parts)):
            # The parts are held, so that their identities cannot be others'.
            found = (parts, make())
        self._now[key] = found
        return found[1]
