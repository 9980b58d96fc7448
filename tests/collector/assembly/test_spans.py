"""The only span around another one in time, found as comparing all with all would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.node import Node
from collector.assembly.spans import Spans
from collector.operation import Operation, OperationKind

TIMES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12)


def nodes(times: list[tuple[int, int]]) -> list[Node]:
    found = [
        Node(
            Operation(
                trace_id="t", span_id=str(n), dialect="", kind=OperationKind.TOOL, start_ns=start, end_ns=start + lasts
            )
        )
        for n, (start, lasts) in enumerate(times)
    ]
    return sorted(found, key=lambda node: node.order)


@settings(deadline=None)
@given(TIMES, TIMES)
def test_spans_around(outer: list[tuple[int, int]], inner: list[tuple[int, int]]) -> None:
    spans = nodes(outer)
    index = Spans(spans)

    for node in nodes(inner):
        one = node.operation
        around = [s for s in spans if s.operation.start_ns <= one.start_ns and one.end_ns <= s.operation.end_ns]
        found = index.around(node)
        assert found == around[::-1][:2] or (len(found) == 2 and set(found) <= set(around))
        assert len(found) == min(2, len(around))
