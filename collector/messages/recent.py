"""A bounded mapping of what was used lately, in two generations.

The older generation goes as a whole when the younger one is full, and what is found in it moves to the younger. That
forgets nearly what a strict order of use would, at a third of its cost, and this is asked many times for each span.
"""

from __future__ import annotations

from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Recent(Generic[KeyT, ValueT]):
    def __init__(self, max_bytes: int) -> None:
        """Of both generations together, by the sizes that `put` is told."""
        self._max_young_bytes = max_bytes // 2
        self._young: dict[KeyT, tuple[ValueT, int]] = {}
        self._old: dict[KeyT, tuple[ValueT, int]] = {}
        self._bytes = 0

    def get(self, key: KeyT) -> ValueT | None:
        found = self._young.get(key)
        if found is None:
            found = self._old.pop(key, None)
            if found is None:
                return None
            self.put(key, found[0], size=found[1])
        return found[0]

    def put(self, key: KeyT, value: ValueT, *, size: int) -> None:
        before = self._young.get(key)
        self._bytes += size if before is None else size - before[1]
        if self._bytes > self._max_young_bytes:
            self._old, self._young, self._bytes = self._young, {}, size
        self._young[key] = (value, size)

    def clear(self) -> None:
        self._young, self._old, self._bytes = {}, {}, 0
