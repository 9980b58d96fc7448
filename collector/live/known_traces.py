"""The rows of traces, those met lately in memory: nearly every batch brings more of traces that came just before."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from collector.live.bounded_cache import BoundedCache
from collector.live.store import StateStore, TraceRow

_ROW_BYTES = 700
"""What a trace's row takes in memory, about."""


class KnownTraces:
    def __init__(self, store: StateStore, *, cache_bytes: int) -> None:
        self._store = store
        self._rows: BoundedCache[str, TraceRow] = BoundedCache(max_bytes=cache_bytes)
        self._next = store.next_id("trace")

    def named(self, names: Collection[str]) -> dict[str, TraceRow]:
        """The rows of those traces that are in the state."""
        found: dict[str, TraceRow] = {}
        unknown: list[str] = []
        for name in names:
            row = self._rows.get(name)
            if row is None:
                unknown.append(name)
            else:
                found[name] = row
        if unknown:
            for row in self._store.traces_named(unknown):
                found[row.name] = row
                self.keep(row)
        return found

    def begin(self, name: str, *, component: int, first_ns: int, is_named: bool) -> TraceRow:
        """The row of a trace that is new; to be kept once it is saved."""
        row = TraceRow(
            id=self._next,
            name=name,
            component=component,
            first_ns=first_ns,
            last_ns=-1,
            ended_ns=None,
            profile="/",
            conversation_id=None,
            is_named=is_named,
        )
        self._next += 1
        return row

    def keep(self, row: TraceRow) -> None:
        self._rows.put(row.name, row, size=_ROW_BYTES + len(row.keys))

    def discard(self, names: Iterable[str]) -> None:
        """Their rows have changed in the state."""
        for name in names:
            self._rows.discard(name)

    def forget(self) -> None:
        self._rows.clear()
        self._next = self._store.next_id("trace")
