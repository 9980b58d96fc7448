"""Opens the verdict store's file: durable settings, current schema, an unsound file set aside.

An empty one takes its place: judging again costs money, not starting at all costs every later verdict. The journal's
replay then brings back what is still open.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from collector.clock import Clock
from collector.sqlite_file import connect, connect_beside, is_unsound, set_aside
from evaluators.errors import StoreUnavailableError
from evaluators.store.schema import migrate, require_current


def open_database(path: Path, *, clock: Clock) -> sqlite3.Connection:
    """A connection for one thread at a time; WAL, and a commit is on disk when it returns."""
    try:
        return _connect(path)
    except sqlite3.DatabaseError as err:
        if not is_unsound(err):
            raise StoreUnavailableError(f"The verdict store {path} cannot be opened: {err}.") from err
        set_aside(path, reason=str(err), now_ns=clock.now_ns())
        return _connect(path)


def open_read_only(path: Path) -> sqlite3.Connection:
    """For another process that only looks; never creates or changes the file, which must be of this release."""
    return _open_current(path, may_write=False)


def open_beside(path: Path) -> sqlite3.Connection:
    """For another process that changes a row: the file must be there, and of this release."""
    return _open_current(path, may_write=True)


def _open_current(path: Path, *, may_write: bool) -> sqlite3.Connection:
    try:
        connection = connect_beside(path, may_write=may_write)
    except sqlite3.Error as err:
        raise StoreUnavailableError(f"The verdict store {path} cannot be opened: {err}.") from err
    try:
        require_current(connection, path=str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect(path, prepare=lambda connection: migrate(connection, path=str(path)))
    connection.execute("PRAGMA cache_size = -8000")  # KiB; keys of answers are spread over the whole file.
    return connection
