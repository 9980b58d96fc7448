"""Whether a trace has ended, as far as its spans show: pure functions over its operations.

Spans are sent when they end, so a span that is there is over, and so is everything below it. What may still run shows
in spans whose parent is named and not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from collector.model import Turn
from collector.operation import Operation, OperationKind


def is_closed(operations: Iterable[Operation]) -> bool:
    """The root or an agent's span ended, and nothing is open below.

    Every topmost span must be the trace's root, an agent's span, or a span that agents and model calls hang below (an
    HTTP server's, whose caller's span is somebody else's). Any other span without its parent hangs below something that
    may still run.
    """
    spans = {operation.span_id: operation for operation in operations if operation.parent_span_id is not None}
    tops: dict[str, bool] = {}
    known: dict[str, str] = {}
    for span in spans.values():
        top = _top(span.span_id, spans, known)
        tops[top] = tops.get(top, False) or span.kind is not OperationKind.OTHER
    return bool(tops) and all(_is_end(spans[top], has_agents=has_agents) for top, has_agents in tops.items())


def awaits_tools(turn: Turn, target: Operation | None) -> bool:
    """The model asked for tools and has not answered yet: with bare model calls, nobody's span says when that ends."""
    if target is not None and target.kind is not OperationKind.MODEL_CALL:
        return False
    return turn.output is None and bool(turn.steps) and turn.steps[-1].kind in {"tool_call", "tool_result"}


def _is_end(top: Operation, *, has_agents: bool) -> bool:
    if not top.end_ns or top.is_stand_in:
        return False  # a turn of log records begins with one, and no record says that it is over
    if top.parent_span_id == "" or top.kind is OperationKind.AGENT:
        return True
    return top.kind is OperationKind.OTHER and has_agents


def _top(span_id: str, spans: Mapping[str, Operation], known: dict[str, str]) -> str:
    """The topmost span above, by id; each span is walked over once, and a circle ends where it is entered again."""
    path: list[str] = []
    seen: set[str] = set()
    here = span_id
    while here not in known and here not in seen:
        path.append(here)
        seen.add(here)
        parent = spans[here].parent_span_id
        if not parent or parent not in spans:
            break
        here = parent
    top = known.get(here, here)
    for step in path:
        known[step] = top
    return top
