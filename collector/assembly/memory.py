"""What was made out of a component's operations, to be used again at the next look at it.

Nothing here is ever believed: each part says what it was made of, and is used again only where that is the same. So a
conversation that is assembled with a memory is the one that is assembled without, and a memory may be lost at any time.
It belongs to operations that are the same objects from one time to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from collector.assembly.grove import Grove
from collector.assembly.link import Links
from collector.assembly.main_line import MainLine
from collector.assembly.memo import Memo
from collector.assembly.merge import merged
from collector.assembly.units import Trace, Unit, operations_of, units_by_trace
from collector.operation import Operation


class AssemblyMemory:
    def __init__(self) -> None:
        self.units: Memo[list[Unit]] = Memo()
        self.groves: Memo[Grove] = Memo()
        self.links = Links()
        self._merged: Memo[Trace] = Memo()
        self._traces: Memo[Trace] = Memo()
        self._main_lines: Memo[MainLine] = Memo()

    def begin_round(self) -> None:
        """Before a component is assembled; what the last time had no use for goes."""
        for memo in (self.units, self._merged, self._traces, self._main_lines):
            memo.begin_round()
        for grove in self.groves.begin_round():
            grove.release()

    def release(self) -> None:
        """Not used any more; without this, circles would keep all of it until somebody looks for circles."""
        self.begin_round()
        self.begin_round()

    def trace_of(self, fragments: Sequence[Operation]) -> Trace:
        """Of the fragments of a trace."""
        return self._merged.of((fragments,), lambda: Trace.of(merged(fragments)))

    def traces_of(self, units: Sequence[Unit]) -> list[Trace]:
        """The traces that these are units of, as far as they are."""
        return [self._traces.of(same, partial(Trace.of, operations_of(same))) for same in units_by_trace(units)]

    def main_line_of(self, units: Sequence[Unit]) -> MainLine:
        """Of the conversation that begins like this."""
        return self._main_lines.of((), MainLine, under=(units[0].order, units[0].service) if units else None)
