"""Keeps the state within its age and its bytes: whole components go, the one that was quiet longest first."""

from __future__ import annotations

from dataclasses import dataclass

from collector.live.components import LinkIndex, RecordedKeys
from collector.live.contents import release
from collector.live.store import StateStore

_CHUNK = 50
"""Components deleted in one transaction, so that the stream is never held up for long."""
_LOW_WATER = 0.9


@dataclass(frozen=True, slots=True)
class Retired:
    by_age: int = 0
    by_bytes: int = 0

    @property
    def total(self) -> int:
        return self.by_age + self.by_bytes


class Retention:
    def __init__(self, store: StateStore, *, max_age_s: float, max_bytes: int) -> None:
        self._store = store
        self._database = store.database
        self._links = LinkIndex(store.database)
        self._max_age_ns = int(max_age_s * 1e9)
        self._max_bytes = max_bytes
        self._shrinking = False

    def live_bytes(self) -> int:
        """Bytes of the pages in use; free pages are used again first."""
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        (size,) = self._database.execute("PRAGMA page_size").fetchone()
        return int((pages - free) * size)

    def retire(self, now_ns: int) -> Retired:
        """Delete at most one chunk, in the caller's transaction; the caller comes again while something went."""
        found = self._oldest("last < ?", now_ns - self._max_age_ns)
        if found:
            self._delete(found)
            return Retired(by_age=len(found))
        size = self.live_bytes()
        # Once over the bound, go on until well below it: else every batch would delete a little.
        self._shrinking = size > self._max_bytes or (self._shrinking and size > self._max_bytes * _LOW_WATER)
        if not self._shrinking:
            return Retired()
        found = self._oldest("last <= ?", now_ns)
        self._delete(found)
        return Retired(by_bytes=len(found))

    def tidy(self, now_ns: int) -> None:
        """What belongs to no component: old end marks, and free pages back to the disk."""
        self._database.execute("DELETE FROM ending WHERE at < ?", (now_ns - self._max_age_ns,))

    def shrink_file(self) -> None:
        """Outside of a transaction: give some free pages back to the disk."""
        # A script, since a plain statement is stepped once and would free one page.
        self._database.executescript("PRAGMA incremental_vacuum(2000)")

    def _oldest(self, condition: str, value: int) -> list[int]:
        found = self._database.execute(
            f"SELECT id FROM component WHERE {condition} ORDER BY last LIMIT ?",  # noqa: S608 - our own constants
            (value, _CHUNK),
        )
        return [component for (component,) in found]

    def _delete(self, components: list[int]) -> None:
        execute = self._database.execute
        for component in components:
            for trace in self._store.traces_of(component):
                gone = execute("DELETE FROM fragment WHERE trace = ? RETURNING data", (trace.id,)).fetchall()
                release(self._database, [data for (data,) in gone])
                self._links.forget_trace(trace.id, RecordedKeys.unpack(trace.keys))
            execute("DELETE FROM trace WHERE component = ?", (component,))
            execute("DELETE FROM unit WHERE component = ?", (component,))
            execute("DELETE FROM component WHERE id = ?", (component,))
