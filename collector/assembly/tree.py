"""The operations of one or more traces as trees, with every call in them once.

A parent that never arrived makes its children roots, or leaves them to the agent around them. Cycles, which no honest
sender makes, are cut at their earliest span. What two instrumentations say about one call is folded into one node
(`duplicates`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from collector.assembly.called import let_agents_stand_for_calls, put_under_their_calls
from collector.assembly.duplicates import fold_duplicates
from collector.assembly.merge import settle
from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.spans import Spans
from collector.operation import Operation

MAX_DEPTH = 256


def build_forest(operations: Iterable[Operation], *, met: set[object] | None = None) -> list[Node]:
    """All nodes in order of time, linked, duplicates marked. Operations must be merged, one a span.

    `met` takes what calls were compared by: spans of others that share none of it, or do not overlap in time with
    these, would have changed nothing here.
    """
    nodes = sorted((Node(settle(operation)) for operation in operations), key=lambda node: node.order)
    by_id = {(node.operation.trace_id, node.operation.span_id): node for node in nodes}
    for node in nodes:
        parent_id = node.operation.parent_span_id
        if parent_id:
            node.parent = by_id.get((node.operation.trace_id, parent_id))
            node.parent_is_missing = node.parent is None
    _cut_cycles(nodes)
    _adopt_orphans(nodes)
    put_under_their_calls(nodes)
    _flatten(nodes)
    let_agents_stand_for_calls(nodes)
    for node in nodes:
        if node.parent is not None:
            node.parent.children.append(node)
    for top in nodes:
        if top.parent is None:
            for node in top.descendants():
                node.note_above()
    keys = fold_duplicates(nodes)
    if met is not None:
        met.update(keys)
    return nodes


def live(nodes: Iterable[Node]) -> list[Node]:
    """Without the spans that only repeat another's call."""
    return [node for node in nodes if not node.is_duplicate]


def _cut_cycles(nodes: Sequence[Node]) -> None:
    safe: set[Node] = set()
    for node in nodes:
        path: list[Node] = []
        on_path: set[Node] = set()
        current: Node | None = node
        while current is not None and current not in safe:
            if current in on_path:
                min(path[path.index(current) :], key=lambda member: member.order).parent = None
                break
            path.append(current)
            on_path.add(current)
            current = current.parent
        safe.update(path)


def _adopt_orphans(nodes: Sequence[Node]) -> None:
    """A span whose parent never arrived is below its trace's root all the same: it goes to the outermost agent around
    it, where there is one and no more.
    """
    orphans = [node for node in nodes if node.parent_is_missing]
    if not orphans:
        return
    agents: dict[str, list[Node]] = defaultdict(list)
    for node in _outermost_agents(nodes):
        agents[node.operation.trace_id].append(node)
    spans = {trace: Spans(own) for trace, own in agents.items()}
    for orphan in orphans:
        own = spans.get(orphan.operation.trace_id)
        around = own.around(orphan) if own is not None else []
        if len(around) == 1:
            orphan.parent = around[0]


def _outermost_agents(nodes: Sequence[Node]) -> list[Node]:
    """Of trees whose root arrived."""
    free: dict[Node, bool] = {}
    """Whether no agent, and no gap, is at the node or above it."""
    found: list[Node] = []
    for node in nodes:
        path = [node]
        while (above := path[-1].parent) is not None and above not in free:
            path.append(above)
        for member in reversed(path):
            above = member.parent
            is_free = free[above] if above is not None else not member.parent_is_missing
            if is_free and member.kind in AGENT_LIKE and member not in free:
                found.append(member)
            free.setdefault(member, is_free and member.kind not in AGENT_LIKE)
    return sorted(found, key=lambda node: node.order)


def _flatten(nodes: Sequence[Node]) -> None:
    """Below `MAX_DEPTH` levels everything is a sibling, so that a walk to the root is bounded."""
    depths: dict[Node, int] = {}
    for node in nodes:
        path: list[Node] = []
        current: Node | None = node
        while current is not None and current not in depths:
            path.append(current)
            current = current.parent
        for member in reversed(path):
            above = member.parent
            if above is not None and depths[above] >= MAX_DEPTH:
                above = member.parent = above.parent
            depths[member] = depths[above] + 1 if above is not None else 0
