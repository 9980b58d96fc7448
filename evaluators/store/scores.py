"""What has been decided about one unit so far, and whether more is to come."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from evaluators.store.verdict_codec import decode_verdict
from evaluators.verdict import DecisionKind, Verdict

_NOT_YET = frozenset({DecisionKind.JUDGE_DOWN, DecisionKind.SUPERSEDED})
"""A refusal for want of money is not in it: it lasts for longer than anybody waits. A unit that was withdrawn is: its
turn comes again as another unit."""


@dataclass(frozen=True, slots=True)
class UnitScores:
    verdicts: tuple[Verdict, ...]
    """The current ones, by evaluator."""
    is_final: bool
    """Each evaluator has decided on the unit as it is, so nothing is to come but by a later revision."""


def scores_of(connection: sqlite3.Connection, unit_key: str, *, evaluators: Collection[str]) -> UnitScores:
    """`evaluators`: the names of those that are asked about such a unit."""
    rows = connection.execute(
        "SELECT d.evaluator, d.kind, v.body FROM decisions d LEFT JOIN verdicts v ON v.id = d.verdict_id"
        " WHERE d.unit_key = ? AND d.current = 1 ORDER BY d.evaluator",
        (unit_key,),
    ).fetchall()
    jobs = connection.execute("SELECT evaluator FROM waiting WHERE unit_key = ? AND dead = 0", (unit_key,))
    waiting = {name for (name,) in jobs}
    kinds = {name: DecisionKind(kind) for name, kind, _ in rows}
    put_off = {name for name, kind in kinds.items() if kind is DecisionKind.DEFERRED_BUDGET}
    open_names = {name for name in evaluators if kinds.get(name) is None or kinds[name] in _NOT_YET}
    open_names |= waiting & set(evaluators) - put_off
    return UnitScores(
        verdicts=tuple(decode_verdict(body) for name, _, body in rows if body is not None and name not in waiting),
        is_final=not open_names,
    )
