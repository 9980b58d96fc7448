"""What judging has cost, by day and month. A call is booked with the most that it may cost before it is made, and put
right when its end is known.

So a process that dies in between leaves the booking as it was: the provider may have billed the call, and the budget
holds whatever happens.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.budget import Amount, Limit, Periods


@dataclass(frozen=True, slots=True)
class UsedUp:
    """What is left of a limit does not hold the call."""

    limit: Limit
    used: int
    wanted: int

    @property
    def never_fits(self) -> bool:
        return self.wanted > self.limit.amount


def used(connection: sqlite3.Connection, limits: Sequence[Limit], *, now_ns: int) -> dict[Limit, int]:
    periods = Periods.at(now_ns)
    rows = connection.execute(
        "SELECT period, nanousd, tokens FROM spending WHERE period IN (?, ?)", (periods.day, periods.month)
    )
    spent = {period: Amount(nanousd, tokens) for period, nanousd, tokens in rows}
    return {limit: limit.of(spent.get(periods.of(limit), Amount())) for limit in limits}


def reserve(
    connection: sqlite3.Connection, bound: Amount, limits: Sequence[Limit], *, now_ns: int
) -> UsedUp | dict[Limit, int]:
    """Book `bound`, or nothing where it does not fit; gives what is used with it."""
    found = used(connection, limits, now_ns=now_ns)
    for limit, spent in found.items():
        if spent + limit.of(bound) > limit.amount:
            return UsedUp(limit, spent, limit.of(bound))
    _add(connection, bound, Periods.at(now_ns))
    return {limit: spent + limit.of(bound) for limit, spent in found.items()}


def settle(connection: sqlite3.Connection, *, bound: Amount, spent: Amount, reserved_ns: int) -> None:
    """In the day and month in which it was booked."""
    _add(connection, spent - bound, Periods.at(reserved_ns))


def _add(connection: sqlite3.Connection, amount: Amount, periods: Periods) -> None:
    connection.executemany(
        "INSERT INTO spending (period, nanousd, tokens) VALUES (?, ?, ?) ON CONFLICT (period) DO UPDATE"
        " SET nanousd = nanousd + excluded.nanousd, tokens = tokens + excluded.tokens",
        [(period, amount.nanousd, amount.tokens) for period in (periods.day, periods.month)],
    )
