"""The waits of every agent that is known, kept in the database; those used lately also in memory."""

from __future__ import annotations

import json
import sqlite3

from collector.live.bounded_cache import BoundedCache
from collector.live.pace import Pace

_ENTRY_BYTES = 2048
_MAX_PROFILES = 2000


class PaceStore:
    def __init__(self, database: sqlite3.Connection, *, cache_bytes: int) -> None:
        self._database = database
        self._paces: BoundedCache[str, Pace] = BoundedCache(max_bytes=cache_bytes)
        self._changed: dict[str, Pace] = {}

    def of(self, profile: str) -> Pace:
        pace = self._changed.get(profile) or self._paces.get(profile)
        if pace is None:
            row = self._database.execute("SELECT data FROM pace WHERE profile = ?", (profile,)).fetchone()
            pace = Pace() if row is None else Pace.from_lists(json.loads(row[0]))
            self._paces.put(profile, pace, size=_ENTRY_BYTES)
        return pace

    def changed(self, profile: str) -> Pace:
        """The same, to be added to; `flush` writes it."""
        pace = self._changed[profile] = self.of(profile)
        return pace

    def flush(self, *, now_ns: int) -> None:
        if not self._changed:
            return
        self._database.executemany(
            "INSERT OR REPLACE INTO pace (profile, data, used) VALUES (?, ?, ?)",
            [(profile, json.dumps(pace.to_lists()), now_ns) for profile, pace in self._changed.items()],
        )
        self._changed.clear()

    def retire(self) -> None:
        """Keep the profiles used last, so that agents with made-up names cannot fill the disk."""
        self._database.execute(
            "DELETE FROM pace WHERE profile NOT IN (SELECT profile FROM pace ORDER BY used DESC LIMIT ?)",
            (_MAX_PROFILES,),
        )

    def forget(self) -> None:
        self._changed.clear()
        self._paces.clear()
