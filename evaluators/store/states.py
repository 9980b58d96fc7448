"""What a judge carries from one turn of a conversation to the next, so that the next costs the new turn only.

A state belongs to a *chain*: one conversation under one evaluator, in its versions. In a chain it is known by the
digest of the turns that it covers, so a state from before a change of an earlier turn is never taken for one from after
it. A state is no promise: where it is lost, the conversation is judged in full again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from collector.clock import Clock
from evaluators.errors import StoreUnavailableError
from evaluators.store.thread import StoreThread

log = structlog.get_logger(__name__)

_KEPT_A_CHAIN = 8
"""Older ones serve only a change of a turn far back, which is judged in full."""
MAX_STATE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class KeptState:
    turns: int
    """How many turns it covers, from the first."""
    body: bytes


class StateLedger(Protocol):
    async def recall(self, chain: str, prefixes: Sequence[str]) -> KeptState | None:
        """The state that covers most turns; `prefixes[n]` is the digest of the first n turns."""

    async def keep(self, chain: str, prefix: str, state: KeptState) -> None:
        """Returns when it is on disk, or cannot be: judging goes on without."""


class StoredStates:
    """The ledger in the verdict store."""

    def __init__(self, store: StoreThread, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def recall(self, chain: str, prefixes: Sequence[str]) -> KeptState | None:
        try:
            return await self._store.run(lambda connection: recall(connection, chain, prefixes))
        except StoreUnavailableError as err:
            log.warning("carried state cannot be read", error=str(err))
            return None

    async def keep(self, chain: str, prefix: str, state: KeptState) -> None:
        now_ns = self._clock.now_ns()
        if len(state.body) > MAX_STATE_BYTES:
            return
        try:
            await self._store.run(lambda connection: keep(connection, chain, prefix, state, now_ns=now_ns))
        except StoreUnavailableError as err:
            log.warning("carried state cannot be kept", error=str(err))


def recall(connection: sqlite3.Connection, chain: str, prefixes: Sequence[str]) -> KeptState | None:
    rows = connection.execute("SELECT turns, prefix, body FROM states WHERE chain = ? ORDER BY turns DESC", (chain,))
    for turns, prefix, body in rows:
        if turns < len(prefixes) and prefixes[turns] == prefix:
            return KeptState(turns, bytes(body))
    return None


def keep(connection: sqlite3.Connection, chain: str, prefix: str, state: KeptState, *, now_ns: int) -> None:
    connection.execute(
        "INSERT INTO states (chain, prefix, turns, kept_ns, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (chain, prefix) DO UPDATE SET kept_ns = excluded.kept_ns, body = excluded.body",
        (chain, prefix, state.turns, now_ns, state.body),
    )
    connection.execute(
        "DELETE FROM states WHERE chain = ?1 AND prefix NOT IN"
        " (SELECT prefix FROM states WHERE chain = ?1 ORDER BY kept_ns DESC, turns DESC LIMIT ?2)",
        (chain, _KEPT_A_CHAIN),
    )
