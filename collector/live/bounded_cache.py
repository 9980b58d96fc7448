"""A cache with a bound in bytes: what was used longest ago goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class BoundedCache(Generic[KeyT, ValueT]):
    def __init__(self, *, max_bytes: int, on_gone: Callable[[ValueT], None] | None = None) -> None:
        """`on_gone` is called with each value that is dropped."""
        self._max_bytes = max_bytes
        self._on_gone = on_gone
        self._entries: OrderedDict[KeyT, tuple[ValueT, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: KeyT) -> ValueT | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: KeyT, value: ValueT, *, size: int) -> None:
        """An entry larger than the whole cache is kept until the next one comes, so that a caller finds what it put."""
        old = self._entries.pop(key, None)
        if old is not None:
            self._bytes -= old[1]
        self._entries[key] = (value, size)
        self._bytes += size
        while self._bytes > self._max_bytes and len(self._entries) > 1:
            _, (gone, gone_size) = self._entries.popitem(last=False)
            self._bytes -= gone_size
            self._drop(gone)

    def take(self, key: KeyT) -> ValueT | None:
        """Out of the cache, for the caller alone."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._bytes -= entry[1]
        return entry[0]

    def discard(self, key: KeyT) -> None:
        gone = self.take(key)
        if gone is not None:
            self._drop(gone)

    def _drop(self, gone: ValueT) -> None:
        if self._on_gone is not None:
            self._on_gone(gone)

    def clear(self) -> None:
        for gone, _ in self._entries.values():
            self._drop(gone)
        self._entries.clear()
        self._bytes = 0
