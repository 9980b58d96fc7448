"""The tables of the verdict store, and the steps from each version of them to the next.

`decisions` holds every decision; at most one a unit x evaluator is current, which a partial unique index makes a fact.
`subject` is the id that a verdict on this content by this evaluator has, so a replay is recognised before it costs
anything. `units` holds the content of waiting work once, however many evaluators wait for it. `states` holds what
judges carry from turn to turn, `calls` what they answered, `spending` what each day and month cost.
"""

from __future__ import annotations

import sqlite3

from evaluators.errors import StoreVersionError

_VERSION_1 = """
CREATE TABLE verdicts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  unit_key TEXT NOT NULL,
  evaluator TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  judged_ns INTEGER NOT NULL,
  handed_over INTEGER NOT NULL DEFAULT 0,
  body BLOB NOT NULL
);
CREATE INDEX verdicts_conversation ON verdicts (conversation_id);
CREATE INDEX verdicts_to_hand_over ON verdicts (seq) WHERE handed_over = 0;

CREATE TABLE decisions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  unit_key TEXT NOT NULL,
  evaluator TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  service TEXT,
  turn_index INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  subject TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  decided_ns INTEGER NOT NULL,
  verdict_id TEXT,
  current INTEGER NOT NULL
);
CREATE UNIQUE INDEX decisions_current ON decisions (unit_key, evaluator) WHERE current = 1;
CREATE INDEX decisions_subject ON decisions (subject);
CREATE INDEX decisions_conversation ON decisions (conversation_id);

CREATE TABLE units (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE waiting (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL UNIQUE,
  unit_key TEXT NOT NULL,
  evaluator TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  service TEXT,
  turn_index INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  unit_id TEXT NOT NULL,
  enqueued_ns INTEGER NOT NULL,
  not_before_ns INTEGER NOT NULL,
  refusals INTEGER NOT NULL DEFAULT 0,
  own_refusals INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX waiting_unit ON waiting (unit_key, evaluator);
CREATE INDEX waiting_due ON waiting (dead, running, evaluator, seq);
CREATE INDEX waiting_content ON waiting (unit_id);
CREATE INDEX waiting_conversation ON waiting (conversation_id);

CREATE TABLE attempts (
  subject TEXT PRIMARY KEY,
  tries INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 1,
  begun_ns INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE calls (
  key TEXT PRIMARY KEY,
  answered_ns INTEGER NOT NULL,
  answer BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX calls_answered ON calls (answered_ns);
"""

_VERSION_2 = """
CREATE TABLE states (
  chain TEXT NOT NULL,
  prefix TEXT NOT NULL,
  turns INTEGER NOT NULL,
  kept_ns INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (chain, prefix)
) WITHOUT ROWID;
CREATE INDEX states_kept ON states (kept_ns);
"""

_VERSION_3 = """
ALTER TABLE calls ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
DROP INDEX calls_answered;
CREATE INDEX calls_answered ON calls (answered_ns, bytes);

CREATE TABLE spending (
  period TEXT PRIMARY KEY,
  nanousd INTEGER NOT NULL,
  tokens INTEGER NOT NULL
) WITHOUT ROWID;
"""

MIGRATIONS = (_VERSION_1, _VERSION_2, _VERSION_3)
SCHEMA_VERSION = len(MIGRATIONS)


def require_current(connection: sqlite3.Connection, *, path: str) -> None:
    """For a process that does not own the file and must not migrate it."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != SCHEMA_VERSION:
        raise StoreVersionError(
            f"The verdict store {path} has version {found} and this Adhere has {SCHEMA_VERSION}; start it once first."
        )


def migrate(connection: sqlite3.Connection, *, path: str) -> None:
    """Bring the file to the current version, one step a transaction; refuse a newer one without touching it."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise StoreVersionError(
            f"The verdict store {path} has version {found} and this Adhere knows up to {SCHEMA_VERSION}; "
            "run the newer Adhere, or move the file away."
        )
    for version in range(found, SCHEMA_VERSION):
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{MIGRATIONS[version]}\nPRAGMA user_version = {version + 1};\nCOMMIT;"
        )
