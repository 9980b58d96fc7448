"""The dead letters in an outbox's file, for another process than the one that delivers, which may run meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from exporters.errors import OutboxUnavailableError
from exporters.outbox.dead import DeadLetters
from exporters.outbox.policy import DeadLetter, OutboxLimits
from exporters.outbox.schema import open_beside


def dead_letters(path: Path, exporter: str | None = None, *, limit: int) -> Sequence[DeadLetter]:
    """Newest first. Raises OutboxUnavailableError and OutboxVersionError."""
    with _opened(path, may_write=False) as connection:
        return DeadLetters(connection, limits=OutboxLimits()).list(exporter, limit=limit)


def redeliver(path: Path, exporters: Sequence[str], *, now_ns: int) -> Mapping[str, int]:
    """Put the dead letters of these back in line, all or none; how many of each.

    A running outbox sees them with its next housekeeping. Raises OutboxUnavailableError and OutboxVersionError.
    """
    with _opened(path, may_write=True) as connection:
        dead = DeadLetters(connection, limits=OutboxLimits())
        connection.execute("BEGIN IMMEDIATE")
        try:
            counts = {name: dead.revive(name, now_ns=now_ns) for name in exporters}
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    return counts


@contextmanager
def _opened(path: Path, *, may_write: bool) -> Iterator[sqlite3.Connection]:
    try:
        with closing(open_beside(path, may_write=may_write)) as connection:
            yield connection
    except sqlite3.Error as err:
        raise OutboxUnavailableError(f"The outbox {path} cannot be used now: {err}; try again.") from err
