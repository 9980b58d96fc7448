"""The dead letters of the outbox: kept with their reason, bounded, and revived on request."""

from __future__ import annotations

import sqlite3

from exporters.outbox.policy import DeadLetter, OutboxLimits

# An exporter with several destinations names each `exporter/part`.
_OF_EXPORTER = "(destination = ?1 OR substr(destination, 1, length(?1) + 1) = ?1 || '/')"


class DeadLetters:
    """Statements only; the store's transactions surround them."""

    def __init__(self, connection: sqlite3.Connection, *, limits: OutboxLimits) -> None:
        self._db = connection
        self._limits = limits

    def add(self, destination: str, seq: int, *, reason: str, error: str, tries: int, now_ns: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO dead (destination, seq, reason, error, tries, died_ns) VALUES (?, ?, ?, ?, ?, ?)",
            (destination, seq, reason, error, tries, now_ns),
        )

    def prune(self) -> list[int]:
        """Remove the oldest over the bounds; the verdicts that were concerned."""
        removed: list[int] = []
        rows, size = self._db.execute(
            "SELECT COUNT(*), COALESCE(SUM(b.size), 0) FROM dead d JOIN bodies b USING (seq)"
        ).fetchone()
        oldest = self._db.execute(
            "SELECT d.number, d.seq, b.size FROM dead d JOIN bodies b USING (seq) ORDER BY number"
        ).fetchall()
        for number, seq, row_size in oldest:
            if rows <= self._limits.max_dead_rows and size <= self._limits.max_dead_bytes:
                break
            removed.append(seq)
            self._db.execute("DELETE FROM dead WHERE number = ?", (number,))
            rows, size = rows - 1, size - row_size
        return removed

    def list(self, exporter: str | None, *, limit: int) -> list[DeadLetter]:
        """Newest first, of one exporter or destination, or of all."""
        found = self._db.execute(
            "SELECT d.destination, v.id, d.reason, d.error, d.tries, d.died_ns "  # noqa: S608 - constant text
            "FROM dead d JOIN verdicts v USING (seq) "
            f"WHERE ?1 IS NULL OR {_OF_EXPORTER} ORDER BY d.number DESC LIMIT ?2",
            (exporter, limit),
        )
        return [DeadLetter(*row) for row in found]

    def revive(self, exporter: str, *, now_ns: int) -> int:
        """Put the dead letters of one exporter or destination back in line, as if never tried; how many."""
        self._db.execute(
            "INSERT INTO pending (destination, seq, next_try_ns) "  # noqa: S608 - constant text
            f"SELECT destination, seq, ?2 FROM dead WHERE {_OF_EXPORTER}",
            (exporter, now_ns),
        )
        return self._db.execute(f"DELETE FROM dead WHERE {_OF_EXPORTER}", (exporter,)).rowcount  # noqa: S608 - same
