"""What is held, in memory: the rows of the file but for their bodies, by number, by trace and by when they are due."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from collector.enrich.held_span import HeldSpan, State


class HeldSpans:
    def __init__(self, rows: Iterable[HeldSpan] = ()) -> None:
        self._rows: dict[int, HeldSpan] = {}
        self._traces: dict[str, set[int]] = {}
        self._spans: dict[str, set[int]] = {}
        self._due: list[tuple[int, int]] = []
        self._unsure: dict[int, str] = {}
        self.bytes = 0
        """Of what still waits; what is on its way is the relay's."""
        for row in rows:
            self.put(row)

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, row: HeldSpan) -> None:
        """New, or in place of what had its number."""
        before = self._rows.get(row.seq)
        self.bytes += _waiting_bytes(row) - (_waiting_bytes(before) if before is not None else 0)
        self._rows[row.seq] = row
        self._traces.setdefault(row.trace, set()).add(row.seq)
        self._spans.setdefault(row.span, set()).add(row.seq)
        heapq.heappush(self._due, (row.until_ns, row.seq))
        if row.state is State.UNSURE:
            self._unsure[row.seq] = row.trace
        else:
            self._unsure.pop(row.seq, None)

    def discard(self, number: int) -> None:
        row = self._rows.pop(number, None)
        if row is None:
            return
        self.bytes -= _waiting_bytes(row)
        self._unsure.pop(number, None)
        for index, key in ((self._traces, row.trace), (self._spans, row.span)):
            index[key].discard(number)
            if not index[key]:
                del index[key]

    def unsure_traces(self) -> set[str]:
        """Of spans that wait for what is around them."""
        return set(self._unsure.values())

    def of_trace(self, trace: str) -> list[HeldSpan]:
        """Those that wait, oldest first."""
        return self._waiting_of(self._traces.get(trace, ()))

    def of_span(self, span: str) -> list[HeldSpan]:
        """Likewise."""
        return self._waiting_of(self._spans.get(span, ()))

    def waiting(self) -> Iterator[HeldSpan]:
        """Oldest first."""
        return (row for row in self._rows.values() if row.state is not State.LEAVING)

    def leaving(self) -> list[HeldSpan]:
        return [row for row in self._rows.values() if row.state is State.LEAVING]

    def due(self, now_ns: int, *, max_wait_ns: int, max_bytes: int) -> list[HeldSpan]:
        """Those whose time has come, at least one if there is any; they stay until they are put as leaving.

        A time further away than any may be means that the clock was set back, and counts as over.
        """
        found: list[HeldSpan] = []
        kept: dict[int, tuple[int, int]] = {}
        while self._due and (self._due[0][0] <= now_ns or self._due[0][0] > now_ns + max_wait_ns):
            entry = heapq.heappop(self._due)
            row = self._rows.get(entry[1])
            if row is None or row.state is State.LEAVING or row.until_ns != entry[0] or row.seq in kept:
                continue
            kept[row.seq] = entry
            if found and max_bytes < row.size:
                break
            max_bytes -= row.size
            found.append(row)
        for entry in kept.values():
            heapq.heappush(self._due, entry)
        return found

    def _waiting_of(self, numbers: Iterable[int]) -> list[HeldSpan]:
        found = (self._rows[number] for number in sorted(numbers))
        return [row for row in found if row.state is not State.LEAVING]

    def has_due(self, now_ns: int, *, max_wait_ns: int) -> bool:
        return bool(self.due(now_ns, max_wait_ns=max_wait_ns, max_bytes=0))


def _waiting_bytes(row: HeldSpan) -> int:
    return 0 if row.state is State.LEAVING else row.size
