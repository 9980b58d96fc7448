"""Which spans are around another one in time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from collector.assembly.node import Node


class Spans:
    """Of spans that follow on one another, only those near the one that is asked about are looked at."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """In order of time."""
        self._nodes = nodes
        self._starts = [node.operation.start_ns for node in nodes]
        self._last_ends = list(accumulate((node.operation.end_ns for node in nodes), max))
        """The latest end of each one and all before it."""

    def around(self, inner: Node) -> list[Node]:
        """Two at most, latest first: who asks wants to know the only one."""
        found: list[Node] = []
        end_ns = inner.operation.end_ns
        position = bisect_right(self._starts, inner.operation.start_ns)
        while position and self._last_ends[position - 1] >= end_ns and len(found) < 2:
            position -= 1
            if self._nodes[position].operation.end_ns >= end_ns:
                found.append(self._nodes[position])
        return found
