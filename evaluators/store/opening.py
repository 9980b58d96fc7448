"""Opens the verdict store's file: durable settings, current schema, a corrupt file set aside.

A corrupt file is renamed, never deleted, and an empty one takes its place: judging again costs money, not starting at
all costs every later verdict. The journal's replay then brings back what is still open.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import structlog

from collector.clock import Clock
from evaluators.errors import StoreUnavailableError
from evaluators.store.schema import migrate, require_current

log = structlog.get_logger(__name__)

_QUICK_CHECK_UP_TO_BYTES = 256 << 20
"""A check reads the whole file; above this size starting late would hurt more than it helps."""
_CORRUPT = ("file is not a database", "malformed", "disk image")


def open_database(path: Path, *, clock: Clock) -> sqlite3.Connection:
    """A connection for one thread at a time; WAL, and a commit is on disk when it returns."""
    try:
        return _open(path)
    except sqlite3.DatabaseError as err:
        if not _is_corruption(err):
            raise StoreUnavailableError(f"The verdict store {path} cannot be opened: {err}.") from err
        aside = _set_aside(path, clock.now_ns())
        log.warning("verdict store corrupt, set aside", path=str(path), aside=str(aside), error=str(err))
        return _open(path)


def open_read_only(path: Path) -> sqlite3.Connection:
    """For another process that only looks; never creates or changes the file."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as err:
        raise StoreUnavailableError(f"The verdict store {path} cannot be read: {err}.") from err
    return connection


def open_beside(path: Path) -> sqlite3.Connection:
    """For another process that changes a row: the file must be there, and of this release."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    except sqlite3.Error as err:
        raise StoreUnavailableError(f"The verdict store {path} cannot be opened: {err}.") from err
    try:
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("PRAGMA synchronous = FULL")
        require_current(connection, path=str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        if path.stat().st_size <= _QUICK_CHECK_UP_TO_BYTES:
            _check(connection)
        migrate(connection, path=str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(f"malformed: {found}")


def _is_corruption(err: sqlite3.DatabaseError) -> bool:
    return any(words in str(err) for words in _CORRUPT)


def _set_aside(path: Path, now_ns: int) -> Path:
    aside = path.with_name(f"{path.name}.corrupt-{now_ns}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside
