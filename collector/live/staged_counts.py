"""Counts of one transaction, which stand once it is committed: what failed is brought in again, and counted then."""

from __future__ import annotations

from collections import Counter as Tally

from prometheus_client import Counter


class StagedCounts:
    """One caller at a time, as for the state that it goes with."""

    def __init__(self) -> None:
        self._staged: Tally[tuple[Counter, str | None]] = Tally()

    def add(self, counter: Counter, outcome: str | None = None, *, count: int = 1) -> None:
        """`outcome`: the counter's only label, where it has one."""
        self._staged[counter, outcome] += count

    def commit(self) -> None:
        for (counter, outcome), count in self._staged.items():
            (counter if outcome is None else counter.labels(outcome)).inc(count)
        self._staged.clear()

    def discard(self) -> None:
        self._staged.clear()
