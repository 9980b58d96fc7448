"""Verdicts and decisions, written together so that neither is ever there without the other.

At most one decision a unit x evaluator is current. An earlier one stays as history and reads as `superseded`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluators.store.verdict_codec import decode_verdict, encode_verdict
from evaluators.verdict import Decision, DecisionKind, Unit, Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit x evaluator stands."""

    subject: str
    """The verdict id that the decided content has."""
    revision: int
    kind: DecisionKind
    reason: str
    verdict_id: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """The conversation and turn that a decision is about."""

    conversation_id: str
    service: str | None
    turn_index: int

    @classmethod
    def of(cls, unit: Unit) -> Place:
        return cls(unit.conversation.conversation_id, unit.conversation.service, unit.turn_index)


def standing(connection: sqlite3.Connection, unit_key: str, evaluator: str) -> Standing | None:
    row = connection.execute(
        "SELECT subject, revision, kind, reason, verdict_id FROM decisions"
        " WHERE unit_key = ? AND evaluator = ? AND current = 1",
        (unit_key, evaluator),
    ).fetchone()
    return None if row is None else _standing(row)


def _standing(row: tuple[str, int, str, str, str | None]) -> Standing:
    return Standing(row[0], row[1], DecisionKind(row[2]), row[3], row[4])


def was_decided(connection: sqlite3.Connection, subject: str) -> bool:
    """Whether this content was ever decided on by this evaluator, now or in history."""
    return connection.execute("SELECT 1 FROM decisions WHERE subject = ? LIMIT 1", (subject,)).fetchone() is not None


def was_judged(connection: sqlite3.Connection, unit_key: str, evaluator: str, *, before: int) -> bool:
    """Whether an earlier revision of the unit has, or had, a score of this evaluator."""
    row = connection.execute(
        "SELECT 1 FROM decisions WHERE unit_key = ? AND evaluator = ? AND kind = ? AND revision < ? LIMIT 1",
        (unit_key, evaluator, DecisionKind.JUDGED.value, before),
    ).fetchone()
    return row is not None


def record_decision(connection: sqlite3.Connection, place: Place, decision: Decision, *, subject: str) -> None:
    """Make the decision the current one, unless a later revision is already decided: then it is history at once."""
    before = standing(connection, decision.unit_key, decision.evaluator)
    late = before is not None and before.subject != subject and before.revision > decision.revision
    if before is not None and not late:
        connection.execute(
            "UPDATE decisions SET current = 0 WHERE unit_key = ? AND evaluator = ? AND current = 1",
            (decision.unit_key, decision.evaluator),
        )
        if before.subject == subject and before.verdict_id is None:
            # The same content, deferred and now decided: the deferral is no revision that anybody asks for later.
            connection.execute(
                "DELETE FROM decisions WHERE unit_key = ? AND evaluator = ? AND subject = ? AND verdict_id IS NULL",
                (decision.unit_key, decision.evaluator, subject),
            )
    insert_decision(connection, place, decision, subject=subject, current=not late)


def insert_decision(
    connection: sqlite3.Connection, place: Place, decision: Decision, *, subject: str, current: bool
) -> None:
    connection.execute(
        "INSERT INTO decisions (unit_key, evaluator, conversation_id, service, turn_index, revision, subject, kind,"
        " reason, decided_ns, verdict_id, current) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            decision.unit_key,
            decision.evaluator,
            place.conversation_id,
            place.service,
            place.turn_index,
            decision.revision,
            subject,
            decision.kind.value,
            decision.reason,
            decision.decided_ns,
            decision.verdict_id,
            int(current),
        ),
    )


def record_verdict(
    connection: sqlite3.Connection, verdict: Verdict, decision: Decision, *, subject: str | None = None
) -> Verdict:
    """Store both; the verdict comes back with the link to the one it supersedes and a revision that only grows.

    A verdict on content that a later revision has replaced is kept, and not handed over. `subject` is another than the
    verdict's id where the same content has a verdict already.
    """
    subject = subject or verdict.id
    before = standing(connection, verdict.unit_key, verdict.evaluator)
    late = before is not None and before.subject != subject and before.revision > verdict.revision
    if before is not None and not late:
        revision = max(verdict.revision, before.revision + (before.subject != subject))
        last = _last_answered(connection, before, verdict)
        if last is not None:
            revision = max(revision, last.revision + (last.verdict_id != verdict.id))
        verdict = replace(verdict, revision=revision, supersedes=_superseded(connection, last, verdict.id))
    connection.execute(
        "INSERT INTO verdicts (id, unit_key, evaluator, conversation_id, judged_ns, handed_over, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET judged_ns = excluded.judged_ns, handed_over = excluded.handed_over,"
        " body = excluded.body",
        (
            verdict.id,
            verdict.unit_key,
            verdict.evaluator,
            verdict.conversation_id,
            verdict.judged_ns,
            int(late),
            encode_verdict(verdict),
        ),
    )
    place = Place(verdict.conversation_id, verdict.service, verdict.turn_index)
    record_decision(connection, place, replace(decision, revision=verdict.revision), subject=subject)
    return verdict


def _last_answered(connection: sqlite3.Connection, before: Standing, verdict: Verdict) -> Standing | None:
    """Where the unit x evaluator stood when it last had a verdict: what stands now may be a deferral."""
    if before.verdict_id is not None:
        return before
    row = connection.execute(
        "SELECT subject, revision, kind, reason, verdict_id FROM decisions WHERE conversation_id = ? AND unit_key = ?"
        " AND evaluator = ? AND verdict_id IS NOT NULL ORDER BY revision DESC, seq DESC LIMIT 1",
        (verdict.conversation_id, verdict.unit_key, verdict.evaluator),
    ).fetchone()
    return None if row is None else _standing(row)


def _superseded(connection: sqlite3.Connection, last: Standing | None, verdict_id: str) -> str | None:
    if last is None or last.verdict_id != verdict_id:
        return None if last is None else last.verdict_id
    again = find_verdict(connection, verdict_id)
    return None if again is None else again.supersedes


def find_verdict(connection: sqlite3.Connection, verdict_id: str) -> Verdict | None:
    row = connection.execute("SELECT body FROM verdicts WHERE id = ?", (verdict_id,)).fetchone()
    return None if row is None else decode_verdict(row[0])


def verdict_on(connection: sqlite3.Connection, subject: str) -> Verdict | None:
    """The last verdict on this content, which has the subject as its id unless an earlier one was an error."""
    row = connection.execute(
        "SELECT v.body FROM decisions d JOIN verdicts v ON v.id = d.verdict_id WHERE d.subject = ?"
        " ORDER BY d.seq DESC LIMIT 1",
        (subject,),
    ).fetchone()
    return find_verdict(connection, subject) if row is None else decode_verdict(row[0])


def verdicts_to_hand_over(connection: sqlite3.Connection, *, limit: int) -> list[Verdict]:
    """Oldest first."""
    rows = connection.execute("SELECT body FROM verdicts WHERE handed_over = 0 ORDER BY seq LIMIT ?", (limit,))
    return [decode_verdict(row[0]) for row in rows]


def mark_handed_over(connection: sqlite3.Connection, verdicts: Sequence[Verdict]) -> None:
    """By id and time: a verdict that was reinstated meanwhile still waits for its own hand-over."""
    connection.executemany(
        "UPDATE verdicts SET handed_over = 1 WHERE id = ? AND judged_ns = ?",
        [(verdict.id, verdict.judged_ns) for verdict in verdicts],
    )
