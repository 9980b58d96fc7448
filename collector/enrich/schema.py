"""The tables of one hold's file, see `store`."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

from collector.errors import PermanentError
from collector.sqlite_file import connect

_VERSION = 1
_TABLES = """
CREATE TABLE held (seq INTEGER PRIMARY KEY AUTOINCREMENT, trace TEXT NOT NULL, span TEXT NOT NULL,
    state INTEGER NOT NULL, received_ns INTEGER NOT NULL, until_ns INTEGER NOT NULL, reason TEXT NOT NULL,
    shape BLOB NOT NULL, unit TEXT, conversation TEXT, attributes TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX held_due ON held (state, until_ns);
CREATE INDEX held_trace ON held (trace);
CREATE TABLE cut (segment INTEGER, start INTEGER, spans TEXT NOT NULL, PRIMARY KEY (segment, start)) WITHOUT ROWID;
CREATE TABLE done (segment INTEGER, start INTEGER, PRIMARY KEY (segment, start)) WITHOUT ROWID;
CREATE TABLE turn (trace TEXT, span TEXT, unit TEXT NOT NULL, conversation TEXT NOT NULL, seen_ns INTEGER NOT NULL,
    PRIMARY KEY (trace, span)) WITHOUT ROWID;
CREATE INDEX turn_seen ON turn (seen_ns);
CREATE TABLE synced (number INTEGER NOT NULL);
INSERT INTO synced VALUES (0);
CREATE TABLE shape (key BLOB PRIMARY KEY, targets INTEGER NOT NULL, others INTEGER NOT NULL) WITHOUT ROWID;
"""


class HoldVersionError(PermanentError):
    """The file was written by a newer Adhere."""


def open_file(path: Path) -> sqlite3.Connection:
    connection = connect(path, prepare=partial(_prepare, path=path))
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _prepare(connection: sqlite3.Connection, *, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        raise HoldVersionError(
            f"The file of held spans {path} has version {version} and this Adhere knows up to {_VERSION};"
            " run the newer Adhere, or move the file away."
        )
    if version == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")
