"""The tables of the live state, and how a file of an older version becomes one of this version.

`PRAGMA user_version` holds the version. Migrations only go forward; a file of a newer Adhere is refused, never touched.
Row numbers grow (no random clustered keys), so inserts touch the same few pages; the random keys that must be looked up
(trace names, content digests, link keys) are narrow indexes.
"""

from __future__ import annotations

import sqlite3

from collector.errors import AdhereError

_VERSION_1 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- A message, or anything else that repeats; once each. `refs` counts the fragments and nodes that hold it.
CREATE TABLE content (id INTEGER PRIMARY KEY, digest BLOB NOT NULL, refs INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX content_digest ON content (digest);

-- A message list: its last message, and the list before it (0: none). `refs` counts fragments and longer lists.
CREATE TABLE node (
    id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, content INTEGER NOT NULL, refs INTEGER NOT NULL,
    length INTEGER NOT NULL, digest BLOB NOT NULL
);
CREATE UNIQUE INDEX node_edge ON node (parent, content);

-- Traces that may belong together. What does belong together is decided by `collector.assembly` each time.
-- Times are stream time. `due`: when to look at it next.
CREATE TABLE component (
    id INTEGER PRIMARY KEY, due INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX component_due ON component (due) WHERE due IS NOT NULL;
CREATE INDEX component_last ON component (last);

-- `ended`: when the end of its root or agent span was first known. `profile`: whose waits it counts for. `named`: it
-- names exactly one conversation. `keys`: its rows in the link tables.
CREATE TABLE trace (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, component INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, ended INTEGER, profile TEXT NOT NULL, conversation_id TEXT,
    named INTEGER NOT NULL, keys BLOB NOT NULL
);
CREATE UNIQUE INDEX trace_name ON trace (name);
CREATE INDEX trace_component ON trace (component);
CREATE INDEX trace_conversation ON trace (conversation_id) WHERE conversation_id IS NOT NULL;

-- Conversations whose end the application marked, and when.
CREATE TABLE ending (conversation TEXT PRIMARY KEY, at INTEGER NOT NULL);

-- What one span or one log record says of an operation.
CREATE TABLE fragment (
    trace INTEGER NOT NULL, digest BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (trace, digest)
) WITHOUT ROWID;

-- What may join traces, see `components.py`. `link_id`: the first trace with the id stands for all that share it.
CREATE TABLE link_id (key INTEGER PRIMARY KEY, trace INTEGER NOT NULL);
CREATE TABLE link_provided (key INTEGER NOT NULL, trace INTEGER NOT NULL, PRIMARY KEY (key, trace)) WITHOUT ROWID;
CREATE TABLE link_needed (key INTEGER NOT NULL, trace INTEGER NOT NULL, PRIMARY KEY (key, trace)) WITHOUT ROWID;

-- What was handed over. `digest` NULL: withdrawn.
CREATE TABLE unit (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, component INTEGER NOT NULL, revision INTEGER NOT NULL, digest BLOB,
    given INTEGER NOT NULL, acknowledged INTEGER NOT NULL
);
CREATE UNIQUE INDEX unit_key ON unit (key);
CREATE INDEX unit_component ON unit (component);

CREATE TABLE pace (profile TEXT PRIMARY KEY, data BLOB NOT NULL, used INTEGER NOT NULL);

-- Records and items that could not be read, newest kept.
CREATE TABLE poison (
    id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL, signal TEXT NOT NULL,
    reason TEXT NOT NULL, body BLOB NOT NULL
);
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1,)
"""Script n brings a file from version n to n + 1."""

VERSION = len(MIGRATIONS)


class NewerStateError(AdhereError):
    """The file was written by a newer Adhere."""


def refuse_newer(found: int) -> None:
    """`found`: the file's `user_version`."""
    if found > VERSION:
        raise NewerStateError(
            f"The live state is of version {found} and this Adhere knows versions up to {VERSION}; "
            "run the newer Adhere, or move the file away to start anew."
        )


def migrate(database: sqlite3.Connection) -> None:
    """Bring the file to this version, each step in a transaction of its own."""
    (found,) = database.execute("PRAGMA user_version").fetchone()
    refuse_newer(found)
    for version in range(found, VERSION):
        database.executescript(
            f"BEGIN IMMEDIATE;\n{MIGRATIONS[version]}\nPRAGMA user_version = {version + 1};\nCOMMIT;"
        )
