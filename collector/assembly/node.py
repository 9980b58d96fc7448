"""An operation in its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collector.operation import Operation, OperationKind

AGENT_LIKE = frozenset({OperationKind.AGENT, OperationKind.WORKFLOW})


class Node:
    """An operation in its tree. `duplicates` are spans that told of the same call."""

    __slots__ = ("children", "duplicates", "is_duplicate", "operation", "parent", "parent_is_missing")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.parent_is_missing = False
        self.is_duplicate = False
        self.duplicates: list[Node] = []

    @property
    def kind(self) -> OperationKind:
        return self.operation.kind

    @property
    def order(self) -> tuple[int, int, str, str]:
        """By start; of equal starts the longer first, since a parent starts with its first child."""
        operation = self.operation
        return (operation.start_ns, -operation.end_ns, operation.trace_id, operation.span_id)

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def descendants(self) -> Iterator[Node]:
        """In order of time within each level; iterative, for a trace may be deep."""
        stack = list(reversed(self.children))
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def nearest(self, kinds: Iterable[OperationKind]) -> Node | None:
        wanted = frozenset(kinds)
        return next((node for node in self.ancestors() if node.kind in wanted and not node.is_duplicate), None)

    @property
    def meaningful_parent(self) -> Node | None:
        """The nearest ancestor of any GenAI kind."""
        return next((n for n in self.ancestors() if n.kind is not OperationKind.OTHER and not n.is_duplicate), None)

    @property
    def is_internal(self) -> bool:
        return self.operation.is_internal or any(node.operation.is_internal for node in self.ancestors())

    @property
    def agent_name(self) -> str | None:
        """The agent that acts here: the span's own, or that of the nearest agent around it."""
        for node in (self, *self.ancestors()):
            agent = node.operation.agent
            if agent is not None and agent.name and (node is self or node.kind is OperationKind.AGENT):
                return agent.name
        return None
