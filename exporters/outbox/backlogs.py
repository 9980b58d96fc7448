"""How much waits for each destination, counted along with the statements that change it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from exporters.outbox.policy import Backlog


class Backlogs:
    """Empty until the file is open. What another process does to it is noticed by `reload_if_changed`."""

    def __init__(self, destinations: Sequence[str]) -> None:
        self._connection: sqlite3.Connection | None = None
        self._destinations = tuple(destinations)
        self._known: dict[str, Backlog] = {}
        self._version = 0

    def open(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._load()

    def __getitem__(self, destination: str) -> Backlog:
        return self._known[destination]

    def all(self) -> Mapping[str, Backlog]:
        return dict(self._known)

    def restore(self, known: Mapping[str, Backlog]) -> None:
        """The transaction that changed them was undone."""
        self._known = dict(known)

    def grow(self, destination: str, *, rows: int, size: int, put_ns: int) -> None:
        known = self._known[destination]
        oldest = put_ns if known.oldest_put_ns is None else known.oldest_put_ns
        self._known[destination] = Backlog(known.rows + rows, known.bytes + size, oldest)

    def shrink(self, destination: str, seqs: Sequence[int]) -> None:
        """While their bodies are still there; `refresh_oldest` is for afterwards."""
        size = sum(row[0] for seq in seqs for row in self._db.execute("SELECT size FROM bodies WHERE seq = ?", (seq,)))
        known = self._known[destination]
        self._known[destination] = Backlog(known.rows - len(seqs), known.bytes - size, known.oldest_put_ns)

    def refresh_oldest(self, destinations: Iterable[str]) -> None:
        for destination in destinations:
            oldest = self._db.execute(
                "SELECT v.put_ns FROM pending p JOIN verdicts v USING (seq) "
                "WHERE p.destination = ? ORDER BY seq LIMIT 1",
                (destination,),
            ).fetchone()
            known = self._known[destination]
            self._known[destination] = Backlog(known.rows, known.bytes, oldest[0] if oldest else None)

    def reload_if_changed(self) -> None:
        """Another process may have put dead letters back in line."""
        if self._others_version() != self._version:
            self._load()

    def _load(self) -> None:
        self._version = self._others_version()
        counted = {
            name: (rows, size or 0)
            for name, rows, size in self._db.execute(
                "SELECT p.destination, COUNT(*), SUM(b.size) FROM pending p JOIN bodies b USING (seq) GROUP BY 1"
            )
        }
        self._known = {name: Backlog(*counted.get(name, (0, 0))) for name in self._destinations}
        self.refresh_oldest(self._destinations)

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.ProgrammingError("The outbox is not open.")
        return self._connection

    def _others_version(self) -> int:
        """Another one after each commit of another process."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])
