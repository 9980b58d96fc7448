"""Walks over what is above operations, by their parents' ids, that stay linear however deep a trace is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from collector.operation import Operation

StateT = TypeVar("StateT")


_MAX_CIRCLE = 256
"""A longer one, which no honest sender makes either, is cut where it is entered."""


def from_above(
    operations: Iterable[Operation],
    by_id: Mapping[str, Operation],
    step: Callable[[Operation, StateT], StateT],
    top: StateT,
) -> dict[str, StateT]:
    """For each operation, by span, what `step` makes of everything above it, from the top down: each is stepped over
    once. Within a circle all others are above each one.
    """
    known: dict[str, StateT] = {}
    for operation in operations:
        path: list[Operation] = []
        places: dict[str, int] = {}
        here: Operation | None = operation
        while here is not None and here.span_id not in known and here.span_id not in places:
            places[here.span_id] = len(path)
            path.append(here)
            here = by_id.get(here.parent_span_id or "")
        start = places.get(here.span_id, len(path)) if here is not None else len(path)
        circle = path[start:]
        for place, member in enumerate(circle if len(circle) <= _MAX_CIRCLE else ()):
            state = top
            for above in (*reversed(circle[:place]), *reversed(circle[place + 1 :])):
                state = step(above, state)
            known[member.span_id] = state
        for member in reversed([one for one in path if one.span_id not in known]):
            parent = by_id.get(member.parent_span_id or "")
            is_top = parent is None or parent.span_id not in known
            known[member.span_id] = top if parent is None or is_top else step(parent, known[parent.span_id])
    return known


def all_above(operations: Iterable[Operation], by_id: Mapping[str, Operation]) -> Iterator[Operation]:
    """What is above any of them, nearest first, each once."""
    seen: set[str] = set()
    for operation in operations:
        above = by_id.get(operation.parent_span_id or "")
        while above is not None and above is not operation and above.span_id not in seen:
            seen.add(above.span_id)
            yield above
            above = by_id.get(above.parent_span_id or "")
