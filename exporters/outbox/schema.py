"""The outbox's file: how it is opened, and what happens when it cannot be.

One SQLite file in WAL mode with `synchronous=FULL`, so that a verdict is on disk when `put` returns.

    verdicts   every id that was put (also after delivery, so that the same verdict handed over again is known)
    bodies     the encoded verdict, for as long as somebody still needs it
    pending    destination x verdict: not delivered yet
    dead       destination x verdict: given up, with the reason

A delivered verdict is one with no row in `pending` or `dead`. A corrupt file is set aside under a new name and never
blocks the start; the last few are kept. A file of a newer release is refused and left as it is.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import structlog

from exporters.errors import OutboxUnavailableError, OutboxVersionError

log = structlog.get_logger(__name__)

SCHEMA_VERSION = 1
_KEPT_CORRUPT_FILES = 3
_CORRUPT_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})

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


def open_database(path: Path) -> tuple[sqlite3.Connection, bool]:
    """The open file, and whether a corrupt one had to be set aside for it."""
    try:
        return _open(path), False
    except sqlite3.DatabaseError as err:
        if not is_corrupt(err):
            raise OutboxUnavailableError(
                f"The outbox {path.name} cannot be opened ({err}); check the disk and the folder's permissions."
            ) from err
    set_aside(path)
    return _open(path), True


def is_corrupt(err: sqlite3.Error) -> bool:
    code = getattr(err, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _CORRUPT_CODES


def set_aside(path: Path) -> None:
    """Move the file and its side files away, keeping the newest few of such copies."""
    known = sorted(
        int(found.name.rpartition("-")[2])
        for found in path.parent.glob(f"{path.name}.corrupt-*")
        if found.name.rpartition("-")[2].isdecimal()
    )
    number = known[-1] + 1 if known else 1
    for suffix in ("-wal", "-shm", ""):
        source = path.with_name(path.name + suffix)
        if source.exists():
            target = f"{path.name}{suffix}.corrupt-{number}"
            source.rename(path.with_name(target))
    for old in known[: max(0, len(known) + 1 - _KEPT_CORRUPT_FILES)]:
        for suffix in ("-wal", "-shm", ""):
            path.with_name(f"{path.name}{suffix}.corrupt-{old}").unlink(missing_ok=True)
    log.error("outbox file is corrupt, set aside", file=path.name, copy=f"{path.name}.corrupt-{number}")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        _prepare(connection, path.name)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, name: str) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise OutboxVersionError(
            f"The outbox {name} has schema {version} and this release knows up to {SCHEMA_VERSION}; "
            "run the newer release, or move the file away."
        )
    fresh = version == 0
    if fresh and connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        raise OutboxVersionError(f"The file {name} is a database of another program; name another path.")
    if fresh:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA journal_size_limit=16777216")
    if fresh:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise _corruption(str(found))
    _check_tables(connection)


def _check_tables(connection: sqlite3.Connection) -> None:
    """A file of another program that happens to have our version number is not ours to write to."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if not {"verdicts", "bodies", "pending", "dead"} <= tables:
        raise _corruption("tables are missing")


def _corruption(found: str) -> sqlite3.DatabaseError:
    err = sqlite3.DatabaseError(found)
    err.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return err
