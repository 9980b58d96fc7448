"""The outbox's file: how it is opened, and what happens when it cannot be.

One SQLite file in WAL mode with `synchronous=FULL`, so that a verdict is on disk when `put` returns.

    verdicts   every id that was put (also after delivery, so that the same verdict handed over again is known)
    bodies     the encoded verdict, for as long as somebody still needs it
    pending    destination x verdict: not delivered yet
    dead       destination x verdict: given up, with the reason

A delivered verdict is one with no row in `pending` or `dead`. An unsound file is set aside under a new name and never
blocks the start; the last few are kept. A file of a newer release is refused and left as it is.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from collector.sqlite_file import UnsoundFileError, connect, connect_beside, is_unsound, set_aside
from exporters.errors import OutboxUnavailableError, OutboxVersionError

SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE verdicts (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, put_ns INTEGER NOT NULL);
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, size INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE pending (destination TEXT NOT NULL, seq INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    next_try_ns INTEGER NOT NULL, PRIMARY KEY (destination, seq)) WITHOUT ROWID;
CREATE INDEX pending_due ON pending (destination, next_try_ns, seq);
CREATE INDEX pending_seq ON pending (seq);
CREATE TABLE dead (number INTEGER PRIMARY KEY AUTOINCREMENT, destination TEXT NOT NULL, seq INTEGER NOT NULL,
    reason TEXT NOT NULL, error TEXT NOT NULL, tries INTEGER NOT NULL, died_ns INTEGER NOT NULL,
    UNIQUE (destination, seq));
CREATE INDEX dead_seq ON dead (seq);
"""


def open_database(path: Path, *, now_ns: int) -> tuple[sqlite3.Connection, bool]:
    """The open file, and whether an unsound one had to be set aside for it."""
    try:
        return _connect(path), False
    except sqlite3.DatabaseError as err:
        if not is_unsound(err):
            raise OutboxUnavailableError(
                f"The outbox {path.name} cannot be opened ({err}); check the disk and the folder's permissions."
            ) from err
        set_aside(path, reason=str(err), now_ns=now_ns)
    return _connect(path), True


def open_beside(path: Path, *, may_write: bool = False) -> sqlite3.Connection:
    """For another process than the outbox's: the file must be there, and of this release."""
    try:
        connection = connect_beside(path, may_write=may_write)
    except sqlite3.Error as err:
        raise OutboxUnavailableError(f"The outbox {path} cannot be opened: {err}.") from err
    try:
        _admit(connection, path.name)
        _require_current(connection, path.name)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    return connect(path, admit=lambda connection: _admit(connection, path.name), prepare=_prepare)


def _admit(connection: sqlite3.Connection, name: str) -> None:
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise OutboxVersionError(
            f"The outbox {name} has schema {version} and this release knows up to {SCHEMA_VERSION}; "
            "run the newer release, or move the file away."
        )
    if version == 0 and connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        raise OutboxVersionError(f"The file {name} is a database of another program; name another path.")


def _require_current(connection: sqlite3.Connection, name: str) -> None:
    if _version(connection) != SCHEMA_VERSION:
        raise OutboxVersionError(f"The outbox {name} has no tables of this release; start Adhere on it once.")


def _prepare(connection: sqlite3.Connection) -> None:
    if _version(connection) == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
    # A file of another program that happens to have our version number is not ours to write to.
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if not {"verdicts", "bodies", "pending", "dead"} <= tables:
        raise UnsoundFileError("tables are missing")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
