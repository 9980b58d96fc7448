"""Walks that step over each span once find what a walk from every span finds, in circles too."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.lineage import all_above, from_above
from collector.operation import Operation, OperationKind

PARENTS = st.lists(st.integers(-2, 14), min_size=1, max_size=14)


def operations(parents: list[int]) -> list[Operation]:
    return [
        Operation(trace_id="t", span_id=str(n), dialect="", kind=OperationKind.TOOL, parent_span_id=str(parent))
        for n, parent in enumerate(parents)
    ]


def path_up(operation: Operation, by_id: dict[str, Operation]) -> list[Operation]:
    found: list[Operation] = []
    above = by_id.get(operation.parent_span_id or "")
    while above is not None and above is not operation and above not in found:
        found.append(above)
        above = by_id.get(above.parent_span_id or "")
    return found


@settings(deadline=None)
@given(PARENTS)
def test_what_is_above_each(parents: list[int]) -> None:
    every = operations(parents)
    by_id = {operation.span_id: operation for operation in every}

    found = from_above(every, by_id, lambda above, names: (above.span_id, *names), ())

    assert found == {op.span_id: tuple(above.span_id for above in path_up(op, by_id)) for op in every}


@settings(deadline=None)
@given(PARENTS)
def test_what_is_above_one(parents: list[int]) -> None:
    every = operations(parents)
    by_id = {operation.span_id: operation for operation in every}

    assert [list(all_above((op,), by_id)) for op in every] == [path_up(op, by_id) for op in every]


def test_a_circle_that_no_sender_makes_is_cut() -> None:
    count = 5_000
    every = operations([*range(1, count), 0])

    found = from_above(every, {op.span_id: op for op in every}, lambda _, depth: depth + 1, 0)

    assert max(found.values()) == count - 1
