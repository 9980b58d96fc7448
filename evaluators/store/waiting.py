"""Work that waits on disk: for a free judge, for one that answers again, for money, or, dead, for a later revision.

A job is one unit x evaluator; a later revision takes the place of one that still waits. Content is stored once a unit,
however many evaluators wait for it, and goes with the last of them. The whole has a bound in bytes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluators.store.unit_codec import encode_unit
from evaluators.verdict import Unit

_COLUMNS = (
    "subject, unit_key, evaluator, conversation_id, service, turn_index, revision, unit_id, enqueued_ns,"
    " not_before_ns, refusals, own_refusals, dead"
)
_IN_TURN = (
    "(evaluator, conversation_id, ifnull(service, '')) NOT IN"
    " (SELECT evaluator, conversation_id, ifnull(service, '') FROM waiting WHERE dead = 0 AND running = 1)"
)
"""Nothing of the same conversation is being judged by the same evaluator."""
_FIRST = (
    "NOT EXISTS (SELECT 1 FROM waiting AS earlier WHERE earlier.conversation_id = waiting.conversation_id"
    " AND earlier.service IS waiting.service AND earlier.evaluator = waiting.evaluator"
    " AND earlier.seq < waiting.seq AND earlier.dead = 0 AND earlier.not_before_ns <= ?)"
)


@dataclass(frozen=True, slots=True)
class Job:
    seq: int
    """Its own number, never used again: content that comes back is another job with the same subject."""
    subject: str
    """The id that the verdict on this content has; unique among the jobs that wait."""
    unit_key: str
    evaluator: str
    conversation_id: str
    service: str | None
    turn_index: int
    revision: int
    unit_id: str
    enqueued_ns: int
    not_before_ns: int
    refusals: int
    """How often a judge refused it."""
    own_refusals: int
    """How often it did so while it answered others."""
    dead: bool


@dataclass(frozen=True, slots=True)
class WaitingTotals:
    jobs: int
    content_bytes: int
    oldest_ns: int | None
    """When the oldest waiting job came in."""
    dead: int


def enqueue(
    connection: sqlite3.Connection,
    unit: Unit,
    *,
    digest: str,
    subject: str,
    evaluator: str,
    enqueued_ns: int,
    dead: bool = False,
) -> Job | None:
    """Returns the waiting job of an earlier revision that this one replaces."""
    replaced = find_job(connection, unit.key, evaluator)
    if replaced is not None:
        remove(connection, replaced)
    unit_id = f"{unit.key}#{digest}"
    body = encode_unit(unit)
    connection.execute(
        "INSERT INTO units (id, digest, bytes, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (unit_id, digest, len(body), body),
    )
    connection.execute(
        f"INSERT INTO waiting ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?)",  # noqa: S608 - our columns
        (
            subject,
            unit.key,
            evaluator,
            unit.conversation.conversation_id,
            unit.conversation.service,
            unit.turn_index,
            unit.revision,
            unit_id,
            enqueued_ns,
            int(dead),
        ),
    )
    return replaced


def find_job(connection: sqlite3.Connection, unit_key: str, evaluator: str) -> Job | None:
    found = _jobs(connection, "unit_key = ? AND evaluator = ?", (unit_key, evaluator), limit=1)
    return found[0] if found else None


def take_due(
    connection: sqlite3.Connection,
    evaluators: Sequence[str],
    *,
    now_ns: int,
    limit: int,
    busy: Collection[str] = (),
) -> list[Job]:
    """Oldest first, now marked as running; none whose subject is `busy`.

    Of one conversation and evaluator one at a time, in order: the next one builds on what the judge carries from it.
    """
    due = _jobs(
        connection,
        f"dead = 0 AND running = 0 AND evaluator IN ({_marks(evaluators)}) AND not_before_ns <= ?"
        f" AND subject NOT IN ({_marks(busy)}) AND {_IN_TURN} AND {_FIRST}",
        (*evaluators, now_ns, *busy, now_ns),
        limit=limit,
    )
    connection.executemany("UPDATE waiting SET running = 1 WHERE seq = ?", [(job.seq,) for job in due])
    return due


def next_due_ns(connection: sqlite3.Connection, evaluators: Sequence[str], *, busy: Collection[str] = ()) -> int | None:
    waits = (
        f"dead = 0 AND running = 0 AND evaluator IN ({_marks(evaluators)}) AND subject NOT IN ({_marks(busy)})"
        f" AND {_IN_TURN}"
    )
    (found,) = connection.execute(
        f"SELECT min(not_before_ns) FROM waiting WHERE {waits}",  # noqa: S608 - only question marks are put in
        (*evaluators, *busy),
    ).fetchone()
    return None if found is None else int(found)


def unit_body(connection: sqlite3.Connection, job: Job) -> tuple[str, bytes]:
    """Digest and encoded unit."""
    digest, body = connection.execute("SELECT digest, body FROM units WHERE id = ?", (job.unit_id,)).fetchone()
    return digest, body


def put_back(connection: sqlite3.Connection, job: Job, *, not_before_ns: int) -> bool:
    """Let a taken job wait again; False when a later revision took its place meanwhile."""
    done = connection.execute(
        "UPDATE waiting SET running = 0, not_before_ns = ? WHERE seq = ?", (not_before_ns, job.seq)
    )
    return done.rowcount == 1


def no_later_than(connection: sqlite3.Connection, not_before_ns: int) -> int:
    """Let what waits for a later time wait for this one; how many that were."""
    return connection.execute(
        "UPDATE waiting SET not_before_ns = ?1 WHERE dead = 0 AND running = 0 AND not_before_ns > ?1", (not_before_ns,)
    ).rowcount


def count_refusal(connection: sqlite3.Connection, job: Job, *, own: bool) -> None:
    connection.execute(
        "UPDATE waiting SET refusals = refusals + 1, own_refusals = own_refusals + ? WHERE seq = ?",
        (int(own), job.seq),
    )


def bury(connection: sqlite3.Connection, job: Job) -> bool:
    """Keep the job as a dead letter: never taken, so that a replay does not try it again.

    A later revision takes its place; `evaluators.store.dead` brings it back.
    """
    return connection.execute("UPDATE waiting SET running = 0, dead = 1 WHERE seq = ?", (job.seq,)).rowcount == 1


def remove(connection: sqlite3.Connection, job: Job) -> bool:
    """False when it is gone already."""
    gone = connection.execute("DELETE FROM waiting WHERE seq = ?", (job.seq,)).rowcount == 1
    connection.execute(
        "DELETE FROM units WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM waiting WHERE unit_id = ?1)", (job.unit_id,)
    )
    return gone


def release_running(connection: sqlite3.Connection) -> list[Job]:
    """At start: what was running when the process ended, now waiting again."""
    found = _jobs(connection, "running = 1", (), limit=-1)
    connection.execute("UPDATE waiting SET running = 0 WHERE running = 1")
    return found


def jobs_beyond(connection: sqlite3.Connection, *, max_bytes: int) -> list[Job]:
    """The dead and then the oldest jobs that must go for the rest to fit; running ones stay."""
    (held,) = connection.execute("SELECT coalesce(sum(bytes), 0) FROM units").fetchone()
    if held <= max_bytes:
        return []
    chosen: list[Job] = []
    seen: set[str] = set()
    for job in _jobs(connection, "running = 0", (), limit=-1, order="dead DESC, seq"):
        chosen.append(job)
        if job.unit_id in seen:
            continue
        seen.add(job.unit_id)
        (size,) = connection.execute("SELECT bytes FROM units WHERE id = ?", (job.unit_id,)).fetchone()
        held -= size
        if held <= max_bytes:
            break
    return chosen


def totals(connection: sqlite3.Connection) -> WaitingTotals:
    (jobs, oldest) = connection.execute("SELECT count(*), min(enqueued_ns) FROM waiting WHERE dead = 0").fetchone()
    (dead,) = connection.execute("SELECT count(*) FROM waiting WHERE dead != 0").fetchone()
    (held,) = connection.execute("SELECT coalesce(sum(bytes), 0) FROM units").fetchone()
    return WaitingTotals(jobs=jobs, content_bytes=held, oldest_ns=oldest, dead=dead)


def count_by_evaluator(connection: sqlite3.Connection) -> Counter[str]:
    return Counter(
        dict(connection.execute("SELECT evaluator, count(*) FROM waiting WHERE dead = 0 GROUP BY evaluator"))
    )


def jobs_of_conversation(connection: sqlite3.Connection, conversation_id: str) -> list[Job]:
    return _jobs(connection, "conversation_id = ?", (conversation_id,), limit=-1)


def jobs_of_unit(connection: sqlite3.Connection, unit_key: str) -> list[Job]:
    return _jobs(connection, "unit_key = ?", (unit_key,), limit=-1)


def jobs_of_unknown(connection: sqlite3.Connection, evaluators: Sequence[str]) -> list[Job]:
    """Jobs of evaluators that are no longer configured."""
    return _jobs(connection, f"evaluator NOT IN ({_marks(evaluators)})", tuple(evaluators), limit=-1)


def _marks(values: Collection[str]) -> str:
    return ",".join("?" * len(values))


def _jobs(
    connection: sqlite3.Connection, where: str, values: Sequence[object], *, limit: int, order: str = "seq"
) -> list[Job]:
    rows = connection.execute(
        f"SELECT seq, {_COLUMNS} FROM waiting WHERE {where} ORDER BY {order} LIMIT ?",  # noqa: S608 - our own words
        (*values, limit),
    ).fetchall()
    return [Job(*(*row[:-1], bool(row[-1]))) for row in rows]
