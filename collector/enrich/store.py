"""The file of one hold: spans that wait for their scores, and how far the requests around them have come.

    held    a span as a request of its own, until the destination has it
    cut     by place in the journal: which spans were taken out of a request, so that the same are after a restart
    done    by place in the journal: requests that have their outcome and lie ahead of the journal's cursor
    turn    turns that were handed to the judging side, by their target span
    shape   what was learnt about spans that look alike (`shapes`)

What is committed survives a kill at once, and a power loss once `sync` was called, which is before the journal's cursor
moves over it: until then the journal has it as well. A sync for each answer would take the disk from the journal.

Calls must not overlap; they may come from different threads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from collector.enrich.held_span import HeldSpan, State, TurnTarget
from collector.enrich.schema import open_file
from collector.journal.protocol import Position
from collector.sqlite_file import is_unsound, set_aside

_MAX_TURNS = 100_000
_FORGOTTEN_AT_ONCE = 1000


class HoldStore:
    def __init__(self, path: Path, *, now_ns: int) -> None:
        """Opens the file, or begins one. Raises HoldVersionError and sqlite3.Error."""
        self._path = path
        self.was_unsound = False
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._db = open_file(path)
        except sqlite3.DatabaseError as err:
            if not is_unsound(err):
                raise
            set_aside(path, reason=str(err), now_ns=now_ns)
            self.was_unsound = True
            self._db = open_file(path)

    def close(self) -> None:
        self._db.close()

    def sync(self) -> None:
        """Everything that was committed survives a power loss."""
        self._db.execute("PRAGMA synchronous = FULL")
        try:
            self._db.execute("UPDATE synced SET number = number + 1")
        finally:
            self._db.execute("PRAGMA synchronous = NORMAL")

    def delete(self) -> None:
        self._db.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def begin_anew(self, reason: str, *, now_ns: int) -> None:
        """The file turned out to be unsound."""
        self._db.close()
        set_aside(self._path, reason=reason, now_ns=now_ns)
        self._db = open_file(self._path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def progress(self) -> tuple[dict[Position, list[int]], set[Position]]:
        """Requests that were cut, with their spans, and those that are done with, ahead of the journal's cursor."""
        cut = self._db.execute("SELECT segment, start, spans FROM cut")
        done = self._db.execute("SELECT segment, start FROM done")
        return (
            {Position(segment, start): json.loads(spans) for segment, start, spans in cut},
            {Position(segment, start) for segment, start in done},
        )

    def add_cut(self, position: Position, spans: Sequence[int]) -> None:
        self._db.execute("INSERT INTO cut VALUES (?, ?, ?)", (position.segment, position.offset, json.dumps(spans)))

    def add_done(self, positions: Iterable[Position]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO done VALUES (?, ?)", [(one.segment, one.offset) for one in positions]
        )

    def forget_before(self, position: Position) -> None:
        """The journal's cursor is there."""
        for table in ("cut", "done"):
            self._db.execute(
                f"DELETE FROM {table} WHERE (segment, start) < (?, ?)",  # noqa: S608 - our tables
                (position.segment, position.offset),
            )

    def hold(self, span: HeldSpan, body: bytes) -> int:
        """Its number."""
        found = self._db.execute(
            "INSERT INTO held (trace, span, state, received_ns, until_ns, reason, shape, unit, conversation,"
            " attributes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                span.trace,
                span.span,
                int(span.state),
                span.received_ns,
                span.until_ns,
                span.reason,
                span.shape,
                span.unit,
                span.conversation,
                json.dumps(span.attributes),
                body,
            ),
        )
        return int(found.lastrowid or 0)

    def change(self, spans: Iterable[HeldSpan]) -> None:
        self._db.executemany(
            "UPDATE held SET state = ?, until_ns = ?, reason = ?, unit = ?, conversation = ?, attributes = ?"
            " WHERE seq = ?",
            [
                (
                    int(one.state),
                    one.until_ns,
                    one.reason,
                    one.unit,
                    one.conversation,
                    json.dumps(one.attributes),
                    one.seq,
                )
                for one in spans
            ],
        )

    def let_go(self, numbers: Iterable[int]) -> None:
        """The destination has them."""
        self._db.executemany("DELETE FROM held WHERE seq = ?", [(number,) for number in numbers])

    def held(self) -> list[HeldSpan]:
        """All, oldest first."""
        rows = self._db.execute(
            "SELECT seq, trace, span, state, received_ns, until_ns, reason, shape, unit, conversation, attributes,"
            " length(body) FROM held ORDER BY seq"
        )
        return [
            HeldSpan(
                seq=row[0],
                trace=row[1],
                span=row[2],
                state=State(row[3]),
                received_ns=row[4],
                until_ns=row[5],
                reason=row[6],
                shape=row[7],
                unit=row[8],
                conversation=row[9],
                attributes=json.loads(row[10]),
                size=row[11],
            )
            for row in rows
        ]

    def body(self, number: int) -> bytes:
        row = self._db.execute("SELECT body FROM held WHERE seq = ?", (number,)).fetchone()
        return bytes(row[0])

    def add_turn(self, turn: TurnTarget, *, now_ns: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO turn VALUES (?, ?, ?, ?, ?)",
            (turn.trace, turn.span, turn.unit, turn.conversation, now_ns),
        )

    def turns_of(self, trace: str) -> dict[str, TurnTarget]:
        """By target span."""
        rows = self._db.execute("SELECT trace, span, unit, conversation FROM turn WHERE trace = ?", (trace,))
        return {row[1]: TurnTarget(*row) for row in rows}

    def forget_turns(self, *, before_ns: int) -> None:
        """Those seen before, and the oldest over the bound; some at a time."""
        self._db.execute(
            "DELETE FROM turn WHERE (trace, span) IN (SELECT trace, span FROM turn WHERE seen_ns < ?"
            " ORDER BY seen_ns LIMIT ?)",
            (before_ns, _FORGOTTEN_AT_ONCE),
        )
        (count,) = self._db.execute("SELECT COUNT(*) FROM turn").fetchone()
        if count > _MAX_TURNS:
            self._db.execute(
                "DELETE FROM turn WHERE (trace, span) IN (SELECT trace, span FROM turn ORDER BY seen_ns LIMIT ?)",
                (count - _MAX_TURNS,),
            )

    def shapes(self) -> list[tuple[bytes, int, int]]:
        return self._db.execute("SELECT key, targets, others FROM shape").fetchall()

    def save_shapes(self, changed: Iterable[tuple[bytes, int, int]], gone: Iterable[bytes]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO shape VALUES (?, ?, ?)", changed)
        self._db.executemany("DELETE FROM shape WHERE key = ?", [(key,) for key in gone])

    def shrink(self) -> None:
        self._db.execute("PRAGMA incremental_vacuum(1000)").fetchall()
