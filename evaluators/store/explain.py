"""What is known about one conversation: why each unit was or was not judged, and with which verdict."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluators.store.opening import open_read_only
from evaluators.store.verdict_codec import decode_verdict
from evaluators.store.waiting import Job, jobs_of_conversation
from evaluators.verdict import Decision, DecisionKind, Verdict


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    decision: Decision
    """Of the kind `superseded` once a later decision took its place; its reason then names the earlier kind."""
    conversation_id: str
    service: str | None
    turn_index: int
    current: bool
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    conversation_id: str
    decisions: tuple[DecisionRecord, ...]
    """By turn, evaluator and time."""
    waiting: tuple[Job, ...]
    """Units that no decision was made on yet, or whose judging was deferred."""
    dead: tuple[Job, ...]
    """Units that were given up, and can be called back."""


class VerdictArchive:
    """Read-only view of a store, for a process of its own; may be open while the store is written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def explain(self, conversation_id: str, *, service: str | None = None) -> ConversationRecord:
        return explain(self._connection, conversation_id, service=service)


@contextmanager
def open_archive(path: Path) -> Iterator[VerdictArchive]:
    """Raises `StoreUnavailableError` where there is no store."""
    connection = open_read_only(path)
    try:
        yield VerdictArchive(connection)
    finally:
        connection.close()


def explain(connection: sqlite3.Connection, conversation_id: str, *, service: str | None = None) -> ConversationRecord:
    """`service` narrows equal ids of several services to one."""
    rows = connection.execute(
        "SELECT d.unit_key, d.evaluator, d.revision, d.kind, d.reason, d.decided_ns, d.verdict_id, d.service,"
        " d.turn_index, d.current, v.body FROM decisions d LEFT JOIN verdicts v ON v.id = d.verdict_id"
        " WHERE d.conversation_id = ?1 AND (?2 IS NULL OR d.service = ?2)"
        " ORDER BY d.turn_index, d.unit_key, d.evaluator, d.seq",
        (conversation_id, service),
    )
    jobs = [job for job in jobs_of_conversation(connection, conversation_id) if service in (None, job.service)]
    return ConversationRecord(
        conversation_id=conversation_id,
        decisions=tuple(_record(conversation_id, row) for row in rows),
        waiting=tuple(job for job in jobs if not job.dead),
        dead=tuple(job for job in jobs if job.dead),
    )


def _record(conversation_id: str, row: tuple) -> DecisionRecord:  # type: ignore[type-arg]  # A row of the query above.
    (unit_key, evaluator, revision, kind, reason, decided_ns, verdict_id, service, turn_index, current, body) = row
    if not current and kind != DecisionKind.SUPERSEDED:
        kind, reason = DecisionKind.SUPERSEDED, f"A later revision took its place; it was {kind}: {reason}"
    return DecisionRecord(
        decision=Decision(
            unit_key=unit_key,
            evaluator=evaluator,
            revision=revision,
            kind=DecisionKind(kind),
            reason=reason,
            decided_ns=decided_ns,
            verdict_id=verdict_id,
        ),
        conversation_id=conversation_id,
        service=service,
        turn_index=turn_index,
        current=bool(current),
        verdict=None if body is None else decode_verdict(body),
    )
