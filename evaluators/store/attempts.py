"""How often an evaluation was begun and did not end well, known across restarts.

`tries` counts evaluations that raised or ran over their deadline. `interruptions` counts those that were under way when
the process died: mostly a kill that has nothing to do with the content, so they have a more patient bound of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempts:
    tries: int = 0
    interruptions: int = 0


def attempts(connection: sqlite3.Connection, subject: str) -> Attempts:
    row = connection.execute("SELECT tries, interruptions FROM attempts WHERE subject = ?", (subject,)).fetchone()
    return Attempts() if row is None else Attempts(*row)


def begin(connection: sqlite3.Connection, subjects: Iterable[str], *, now_ns: int) -> None:
    connection.executemany(
        "INSERT INTO attempts (subject, begun_ns) VALUES (?, ?)"
        " ON CONFLICT (subject) DO UPDATE SET running = 1, begun_ns = excluded.begun_ns",
        [(subject, now_ns) for subject in subjects],
    )


def stop(connection: sqlite3.Connection, subject: str, *, failed: bool) -> Attempts:
    """It ended without a verdict: `failed` by its own fault, else deferred or stopped in order."""
    connection.execute("UPDATE attempts SET running = 0, tries = tries + ? WHERE subject = ?", (int(failed), subject))
    return attempts(connection, subject)


def forget(connection: sqlite3.Connection, subject: str) -> None:
    """It ended with a verdict."""
    connection.execute("DELETE FROM attempts WHERE subject = ?", (subject,))


def count_interruptions(connection: sqlite3.Connection) -> dict[str, int]:
    """At start: subject -> interruptions so far, of what was under way when the process ended."""
    connection.execute("UPDATE attempts SET running = 0, interruptions = interruptions + 1 WHERE running = 1")
    return dict(connection.execute("SELECT subject, interruptions FROM attempts WHERE interruptions > 0"))
