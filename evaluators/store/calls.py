"""Answers of judges by a key over the whole request: a call that was answered is never paid for twice.

An evaluation of several calls that dies in the middle finds its finished ones here. The caller makes the key; it must
hold everything that the answer depends on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def recall(connection: sqlite3.Connection, key: str) -> bytes | None:
    row = connection.execute("SELECT answer FROM calls WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def record(connection: sqlite3.Connection, key: str, answer: bytes, *, now_ns: int) -> None:
    connection.execute(
        "INSERT INTO calls (key, answered_ns, answer, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
        " SET answered_ns = excluded.answered_ns, answer = excluded.answer, bytes = excluded.bytes",
        (key, now_ns, answer, len(answer)),
    )


def forget(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    connection.executemany("DELETE FROM calls WHERE key = ?", [(key,) for key in keys])


def used_by_calls(connection: sqlite3.Connection) -> int:
    """Bytes of all answers; read from an index."""
    (held,) = connection.execute("SELECT coalesce(sum(bytes), 0) FROM calls").fetchone()
    return int(held)
