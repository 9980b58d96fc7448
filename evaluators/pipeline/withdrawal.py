"""What happens to a unit that is none any more, since late data made its turn part of another one.

Its decisions become history and `superseded` is the current one, its waiting work is dropped. A verdict that went out
stays where it went: the unit that took the turn in has verdicts of its own.
"""

from __future__ import annotations

import sqlite3

from evaluators.pipeline.jobs import supersede
from evaluators.pipeline.tally import Tally
from evaluators.store.verdicts import Place, record_decision
from evaluators.store.waiting import jobs_of_unit
from evaluators.verdict import Decision, DecisionKind

_REASON = "Late data made this unit part of another one."


def withdraw(connection: sqlite3.Connection, unit_key: str, *, now_ns: int) -> list[Tally]:
    """In one transaction; the second time it changes nothing."""
    tallies: list[Tally] = []
    for job in jobs_of_unit(connection, unit_key):
        tallies += supersede(connection, job, by="withdrawn", now_ns=now_ns)
    rows = connection.execute(
        "SELECT evaluator, revision, conversation_id, service, turn_index FROM decisions"
        " WHERE unit_key = ? AND current = 1 AND kind != ?",
        (unit_key, DecisionKind.SUPERSEDED.value),
    ).fetchall()
    for evaluator, revision, conversation_id, service, turn_index in rows:
        decision = Decision(
            unit_key=unit_key,
            evaluator=evaluator,
            revision=revision,
            kind=DecisionKind.SUPERSEDED,
            reason=_REASON,
            decided_ns=now_ns,
        )
        # A subject of its own: were the unit to come back with the same content, it must not count as decided.
        place = Place(conversation_id, service, turn_index)
        record_decision(connection, place, decision, subject=f"withdrawn:{evaluator}:{unit_key}")
    return tallies
