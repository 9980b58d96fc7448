"""Judgings that were given up for good, and how they come back.

They stay in `waiting` with their content, so that a replay does not ask again and a later revision takes their place.
Another process may only mark one as called back. The one that judges makes it wait again and counts it, in one
transaction: until then it is dead for everybody, and whatever happens to it meanwhile is what happens to the dead.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluators.errors import StoreUnavailableError
from evaluators.store.opening import open_beside, open_read_only

DEAD = 1
CALLED_BACK = 2


@dataclass(frozen=True, slots=True)
class DeadJudging:
    evaluator: str
    conversation_id: str
    unit_key: str
    turn_index: int
    reason: str
    """As the decision on it says, which is `error type: words`; empty where that was trimmed away."""
    died_ns: int
    is_called_back: bool
    """It is asked again as soon as Adhere runs."""


def dead_judgings(
    path: Path, evaluator: str | None = None, *, conversation_id: str | None = None, limit: int
) -> Sequence[DeadJudging]:
    """Newest first. Raises StoreUnavailableError and StoreVersionError."""
    with _opened(path, open_read_only(path)) as connection:
        rows = connection.execute(
            "SELECT w.evaluator, w.conversation_id, w.unit_key, w.turn_index, coalesce(d.reason, ''),"
            " coalesce(d.decided_ns, w.enqueued_ns) AS died_ns, w.dead = ?4"
            " FROM waiting w LEFT JOIN decisions d"
            " ON d.unit_key = w.unit_key AND d.evaluator = w.evaluator AND d.current = 1"
            " WHERE w.dead != 0 AND (?1 IS NULL OR w.evaluator = ?1) AND (?2 IS NULL OR w.conversation_id = ?2)"
            " ORDER BY died_ns DESC, w.seq DESC LIMIT ?3",
            (evaluator, conversation_id, limit, CALLED_BACK),
        )
        return [DeadJudging(row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6])) for row in rows]


def call_back(path: Path, evaluators: Sequence[str], *, conversation_id: str | None = None) -> Mapping[str, int]:
    """Have the dead judgings of these asked again, all or none; how many of each. Safe twice, and beside a process that
    judges, which sees them with its next upkeep. Raises StoreUnavailableError and StoreVersionError.
    """
    with _opened(path, open_beside(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            counts = {
                name: connection.execute(
                    "UPDATE waiting SET dead = ?1 WHERE dead = ?2 AND evaluator = ?3"
                    " AND (?4 IS NULL OR conversation_id = ?4)",
                    (CALLED_BACK, DEAD, name, conversation_id),
                ).rowcount
                for name in evaluators
            }
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    return counts


def revive(connection: sqlite3.Connection, evaluators: Sequence[str], *, now_ns: int) -> Counter[str]:
    """Let what was called back wait as if it came in now; how many by evaluator."""
    marks = ",".join("?" * len(evaluators))
    where = f"dead = {CALLED_BACK} AND evaluator IN ({marks})"
    found = Counter(
        dict(
            connection.execute(
                f"SELECT evaluator, count(*) FROM waiting WHERE {where} GROUP BY evaluator",  # noqa: S608 - marks only
                tuple(evaluators),
            )
        )
    )
    if found:
        connection.execute(
            f"DELETE FROM attempts WHERE subject IN (SELECT subject FROM waiting WHERE {where})",  # noqa: S608 - same
            tuple(evaluators),
        )
        connection.execute(
            "UPDATE waiting SET dead = 0, refusals = 0, own_refusals = 0, enqueued_ns = ?, not_before_ns = ?"  # noqa: S608 - same
            f" WHERE {where}",
            (now_ns, now_ns, *evaluators),
        )
    return found


@contextmanager
def _opened(path: Path, opened: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        with closing(opened) as connection:
            yield connection
    except sqlite3.Error as err:
        raise StoreUnavailableError(f"The verdict store {path} cannot be used now: {err}; try again.") from err
