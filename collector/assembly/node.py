"""An operation in its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collector.assembly.said import system_of
from collector.operation import Operation, OperationKind

AGENT_LIKE = frozenset({OperationKind.AGENT, OperationKind.WORKFLOW})


class Node:
    """An operation in its tree. `duplicates` are spans that told of the same call."""

    __slots__ = (
        "_speaker",
        "_system",
        "children",
        "duplicates",
        "is_duplicate",
        "operation",
        "order",
        "parent",
        "parent_is_missing",
    )

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.order = (operation.start_ns, -operation.end_ns, operation.trace_id, operation.span_id)
        """By start; of equal starts the longer first, since a parent starts with its first child."""
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.parent_is_missing = False
        self.is_duplicate = False
        self.duplicates: list[Node] = []
        self._speaker: tuple[str | None, frozenset[str]] | None = None
        self._system: tuple[str | None] | None = None

    @property
    def kind(self) -> OperationKind:
        return self.operation.kind

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

    @property
    def speaker(self) -> tuple[str | None, frozenset[str]]:
        """Whom the words are of, once the tree is done: agents without names of their own are told by their tools."""
        if self._speaker is None:
            tools = frozenset(tool.name for tool in self.operation.tool_definitions or ())
            self._speaker = (self.agent_name, tools)
        return self._speaker

    @property
    def system(self) -> str | None:
        """The system prompt, once the tree is done."""
        if self._system is None:
            self._system = (system_of(self.operation),)
        return self._system[0]
