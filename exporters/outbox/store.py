"""The outbox's statements, for one thread: each method is one transaction.

Bounds are kept while writing: a destination over its bound gives its oldest verdict to the dead letters, dead letters
over theirs lose the oldest, a body that nobody needs leaves the disk at once, ids are forgotten after their retention.
Waiting times are wall-clock so that they survive a restart; one that lies further ahead than any wait may be (the clock
was set back) counts as over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from collector.sqlite_file import set_aside
from exporters.outbox.backlogs import Backlogs
from exporters.outbox.dead import DeadLetters
from exporters.outbox.policy import Backlog, DeadLetterReason, OutboxLimits
from exporters.outbox.schema import open_database

_FORGET_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    seq: int
    tries: int
    put_ns: int
    body: bytes


class OutboxStore:
    def __init__(self, path: Path, *, destinations: Sequence[str], limits: OutboxLimits) -> None:
        self._path = path
        self._destinations = tuple(destinations)
        self._limits = limits
        self._backlogs = Backlogs(destinations)
        self._in_flight: dict[str, frozenset[int]] = {}
        self._connection: sqlite3.Connection | None = None

    def open(self, *, now_ns: int) -> bool:
        """True if a corrupt file was set aside."""
        connection, was_corrupt = open_database(self._path, now_ns=now_ns)
        self._connection = connection
        self._dead = DeadLetters(connection, limits=self._limits)
        with self._transaction() as db:
            marks = ",".join("?" * len(self._destinations))
            left = db.execute(
                f"SELECT destination, seq, tries FROM pending WHERE destination NOT IN ({marks})",  # noqa: S608 - marks only
                self._destinations,
            ).fetchall()
            for destination, seq, tries in left:
                self._move_to_dead(
                    destination,
                    seq,
                    tries=tries,
                    reason=DeadLetterReason.DESTINATION_REMOVED,
                    error="",
                    now_ns=now_ns,
                )
            self._release(self._dead.prune())
        self._backlogs.open(connection)
        return was_corrupt

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def rebuild(self, *, reason: str, now_ns: int) -> None:
        """Set a file that turned out to be corrupt aside and start a new one."""
        self.close()
        set_aside(self._path, reason=reason, now_ns=now_ns)
        self._in_flight.clear()
        self.open(now_ns=now_ns)

    def backlogs(self) -> Mapping[str, Backlog]:
        return self._backlogs.all()

    def put_many(self, verdicts: Sequence[tuple[str, bytes]], *, now_ns: int) -> tuple[list[bool], Mapping[str, int]]:
        """Which were new, and how many older ones each destination lost for them."""
        added: list[bool] = []
        with self._transaction() as db:
            for verdict_id, body in verdicts:
                cursor = db.execute("INSERT OR IGNORE INTO verdicts (id, put_ns) VALUES (?, ?)", (verdict_id, now_ns))
                added.append(cursor.rowcount == 1)
                if cursor.rowcount != 1 or not self._destinations:
                    continue
                seq = cursor.lastrowid
                db.execute("INSERT INTO bodies (seq, size, body) VALUES (?, ?, ?)", (seq, len(body), body))
                db.executemany(
                    "INSERT INTO pending (destination, seq, next_try_ns) VALUES (?, ?, ?)",
                    [(destination, seq, now_ns) for destination in self._destinations],
                )
                for destination in self._destinations:
                    self._backlogs.grow(destination, rows=1, size=len(body), put_ns=now_ns)
            overflowed = {name: count for name in self._destinations if (count := self._shed(name, now_ns))}
            if overflowed:
                self._release(self._dead.prune())
        self._backlogs.refresh_oldest(overflowed)
        return added, overflowed

    def claim(
        self, destination: str, *, now_ns: int, max_wait_ns: int, max_rows: int, max_bytes: int
    ) -> list[StoredVerdict]:
        """The next verdicts that are due, oldest wait first, at least one if there is any.

        A verdict that already failed travels in a smaller batch, half the size for each failed try, so that one that
        can never be delivered ends up alone.
        """
        rows = self._db.execute(
            "SELECT p.seq, p.tries, v.put_ns, b.size "
            "FROM pending p JOIN bodies b USING (seq) JOIN verdicts v USING (seq) "
            "WHERE p.destination = ? AND (p.next_try_ns <= ? OR p.next_try_ns > ?) "
            "ORDER BY p.next_try_ns, p.seq LIMIT ?",
            (destination, now_ns, now_ns + max_wait_ns, max_rows),
        ).fetchall()
        claimed: list[StoredVerdict] = []
        allowed, size = max_rows, 0
        for seq, tries, put_ns, row_size in rows:
            allowed = min(allowed, max(1, max_rows >> min(tries, 32)))
            size += row_size
            if claimed and (len(claimed) >= allowed or size > max_bytes):
                break
            body = self._db.execute("SELECT body FROM bodies WHERE seq = ?", (seq,)).fetchone()[0]
            claimed.append(StoredVerdict(seq, tries, put_ns, body))
        self._in_flight[destination] = frozenset(row.seq for row in claimed)
        self._backlogs.reload_if_changed()
        return claimed

    def next_due_ns(self, destination: str) -> int | None:
        found = self._db.execute(
            "SELECT MIN(next_try_ns) FROM pending WHERE destination = ?", (destination,)
        ).fetchone()[0]
        return None if found is None else int(found)

    def delivered(self, destination: str, seqs: Iterable[int]) -> None:
        done = list(seqs)
        with self._transaction() as db:
            db.executemany(
                "DELETE FROM pending WHERE destination = ? AND seq = ?", [(destination, seq) for seq in done]
            )
            self._backlogs.shrink(destination, done)
            self._release(done)
        self._backlogs.refresh_oldest([destination])

    def postpone(self, destination: str, until_ns: Mapping[int, int], *, count_try: bool) -> None:
        with self._transaction() as db:
            db.executemany(
                "UPDATE pending SET tries = tries + ?, next_try_ns = ? WHERE destination = ? AND seq = ?",
                [(int(count_try), next_try_ns, destination, seq) for seq, next_try_ns in until_ns.items()],
            )

    def bury(self, destination: str, seqs: Iterable[int], *, reason: str, error: str, now_ns: int) -> None:
        done = list(seqs)
        with self._transaction() as db:
            for seq in done:
                tries = db.execute(
                    "SELECT tries FROM pending WHERE destination = ? AND seq = ?", (destination, seq)
                ).fetchone()
                self._move_to_dead(
                    destination,
                    seq,
                    tries=tries[0] + 1 if tries else 1,
                    reason=reason,
                    error=error,
                    now_ns=now_ns,
                )
            self._backlogs.shrink(destination, done)
            self._release(self._dead.prune())
        self._backlogs.refresh_oldest([destination])

    @property
    def dead(self) -> DeadLetters:
        return self._dead

    def forget(self, *, now_ns: int) -> None:
        """Housekeeping, bounded: ids past their retention go, and free pages go back to the disk."""
        with self._transaction() as db:
            newest = db.execute("SELECT MAX(seq) FROM verdicts").fetchone()[0] or 0
            db.execute(
                "DELETE FROM verdicts WHERE seq IN (SELECT v.seq FROM verdicts v LEFT JOIN bodies b USING (seq) "
                "WHERE (v.put_ns < ? OR v.seq <= ?) AND b.seq IS NULL ORDER BY v.seq LIMIT ?)",
                (
                    now_ns - int(self._limits.retention_s * 1e9),
                    newest - self._limits.max_remembered_ids,
                    _FORGET_AT_ONCE,
                ),
            )
        self._db.execute("PRAGMA incremental_vacuum(1000)").fetchall()

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.ProgrammingError("The outbox is closed.")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        before = self._backlogs.all()
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            self._backlogs.restore(before)
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _shed(self, destination: str, now_ns: int) -> int:
        """Make the oldest verdicts of a backlog over its bound dead letters; what is on its way stays."""
        count = 0
        backlog = self._backlogs[destination]
        while backlog.rows > self._limits.max_backlog_rows or backlog.bytes > self._limits.max_backlog_bytes:
            in_flight = self._in_flight.get(destination, frozenset())
            oldest = self._db.execute(
                "SELECT seq, tries FROM pending WHERE destination = ? ORDER BY seq LIMIT ?",
                (destination, len(in_flight) + 1),
            )
            victim = next(((seq, tries) for seq, tries in oldest if seq not in in_flight), None)
            if victim is None:
                break
            self._move_to_dead(
                destination, victim[0], tries=victim[1], reason=DeadLetterReason.OVERFLOW, error="", now_ns=now_ns
            )
            self._backlogs.shrink(destination, [victim[0]])
            backlog = self._backlogs[destination]
            count += 1
        return count

    def _move_to_dead(self, destination: str, seq: int, *, tries: int, reason: str, error: str, now_ns: int) -> None:
        self._db.execute("DELETE FROM pending WHERE destination = ? AND seq = ?", (destination, seq))
        self._dead.add(destination, seq, reason=reason, error=error, tries=tries, now_ns=now_ns)

    def _release(self, seqs: Iterable[int]) -> None:
        """Remove the bodies that no destination needs any more."""
        self._db.executemany(
            "DELETE FROM bodies WHERE seq = :seq AND NOT EXISTS (SELECT 1 FROM pending WHERE seq = :seq) "
            "AND NOT EXISTS (SELECT 1 FROM dead WHERE seq = :seq)",
            [{"seq": seq} for seq in seqs],
        )
