"""Bounds of the verdict store: age and bytes. The oldest goes first; a verdict not yet handed over never goes.

Work in small slices, so that no slice holds up the writes of judging.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from evaluators.budget import Periods
from evaluators.store.calls import used_by_calls

_SLICE_ROWS = 500
_SPENDING_KEPT_NS = 62 * 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Retention:
    max_age_s: float = 30 * 86400.0
    calls_max_age_s: float = 7 * 86400.0
    """Of answers to calls, and of what judges carry from turn to turn."""
    calls_max_bytes: int = 256 << 20
    """Of answers to calls."""
    max_bytes: int = 1 << 30
    """Of the file; work that waits has a bound of its own and counts here as well."""


def trim(connection: sqlite3.Connection, retention: Retention, *, now_ns: int) -> bool:
    """Delete one slice of what is over a bound; True when there may be more."""
    calls_before = now_ns - int(retention.calls_max_age_s * 1e9)
    gone = connection.execute(
        "DELETE FROM calls WHERE key IN (SELECT key FROM calls WHERE answered_ns < ? ORDER BY answered_ns LIMIT ?)",
        (calls_before, _SLICE_ROWS),
    ).rowcount
    gone += connection.execute(
        "DELETE FROM states WHERE (chain, prefix) IN"
        " (SELECT chain, prefix FROM states WHERE kept_ns < ? ORDER BY kept_ns LIMIT ?)",
        (calls_before, _SLICE_ROWS),
    ).rowcount
    gone += connection.execute("DELETE FROM attempts WHERE running = 0 AND begun_ns < ?", (calls_before,)).rowcount
    gone += connection.execute("DELETE FROM spending WHERE period < ?", (_spending_kept(now_ns),)).rowcount
    before = now_ns - int(retention.max_age_s * 1e9)
    over_bytes = used_bytes(connection) > retention.max_bytes
    if over_bytes or used_by_calls(connection) > retention.calls_max_bytes:
        gone += connection.execute(
            "DELETE FROM calls WHERE key IN (SELECT key FROM calls ORDER BY answered_ns LIMIT ?)", (_SLICE_ROWS,)
        ).rowcount
    if over_bytes:
        gone += connection.execute(
            "DELETE FROM states WHERE (chain, prefix) IN (SELECT chain, prefix FROM states ORDER BY kept_ns LIMIT ?)",
            (_SLICE_ROWS,),
        ).rowcount
    gone += _trim_decisions(connection, before_ns=None if over_bytes else before)
    gone += _trim_verdicts(connection, before_ns=None if over_bytes else before)
    connection.execute("PRAGMA incremental_vacuum(1000)").fetchall()
    return gone > 0


def _spending_kept(now_ns: int) -> str:
    """The first month whose days are kept; budgets look back to the beginning of this one."""
    return Periods.at(now_ns - _SPENDING_KEPT_NS).month


def used_bytes(connection: sqlite3.Connection) -> int:
    """Pages that hold something; free pages are reused and do not count."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages - free) * int(size)


def _trim_decisions(connection: sqlite3.Connection, *, before_ns: int | None) -> int:
    return connection.execute(
        "DELETE FROM decisions WHERE seq IN (SELECT seq FROM decisions ORDER BY seq LIMIT ?1)"
        " AND (?2 IS NULL OR decided_ns < ?2)"
        " AND NOT EXISTS (SELECT 1 FROM verdicts WHERE id = decisions.verdict_id AND handed_over = 0)",
        (_SLICE_ROWS, before_ns),
    ).rowcount


def _trim_verdicts(connection: sqlite3.Connection, *, before_ns: int | None) -> int:
    return connection.execute(
        "DELETE FROM verdicts WHERE seq IN (SELECT seq FROM verdicts ORDER BY seq LIMIT ?1)"
        " AND (?2 IS NULL OR judged_ns < ?2) AND handed_over = 1"
        " AND NOT EXISTS (SELECT 1 FROM decisions WHERE verdict_id = verdicts.id)",
        (_SLICE_ROWS, before_ns),
    ).rowcount
