"""Answers of judges by a key over the whole request: a call that was answered is never paid for twice.

An evaluation of several calls that dies in the middle finds its finished ones here. The caller makes the key; it must
hold everything that the answer depends on.
"""

from __future__ import annotations

import sqlite3
from typing import Protocol

from collector.clock import Clock
from evaluators.store.thread import StoreThread


class CallLedger(Protocol):
    async def recall(self, key: str) -> bytes | None:
        """The recorded answer, if there is one."""

    async def record(self, key: str, answer: bytes) -> None:
        """Returns when the answer is on disk."""


class StoredCalls:
    """The ledger in the verdict store."""

    def __init__(self, store: StoreThread, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def recall(self, key: str) -> bytes | None:
        return await self._store.run(lambda connection: recall(connection, key))

    async def record(self, key: str, answer: bytes) -> None:
        now_ns = self._clock.now_ns()
        await self._store.run(lambda connection: record(connection, key, answer, now_ns=now_ns))


def recall(connection: sqlite3.Connection, key: str) -> bytes | None:
    row = connection.execute("SELECT answer FROM calls WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def record(connection: sqlite3.Connection, key: str, answer: bytes, *, now_ns: int) -> None:
    connection.execute(
        "INSERT INTO calls (key, answered_ns, answer) VALUES (?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET answered_ns = excluded.answered_ns, answer = excluded.answer",
        (key, now_ns, answer),
    )
