"""An operation in its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collector.assembly.said import system_of
from collector.operation import Operation, OperationKind

AGENT_LIKE = frozenset({OperationKind.AGENT, OperationKind.WORKFLOW})


def all_above(nodes: Iterable[Node]) -> set[int]:
    """Identities of their ancestors; each is walked over once."""
    found: set[int] = set()
    for node in nodes:
        for above in node.ancestors():
            if id(above) in found:
                break
            found.add(id(above))
    return found


class Node:
    """An operation in its tree. `duplicates` are spans that told of the same call.

    What is above is noted once the parents are set (`note_above`, `adopt`), since a trace may be deep and asks for it
    at every node.
    """

    __slots__ = (
        "_speaker",
        "_system",
        "acting",
        "any_tool_above",
        "children",
        "depth",
        "duplicates",
        "genai_above",
        "is_duplicate",
        "is_internal",
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
        self.depth = 0
        self.is_internal = operation.is_internal
        """It, or what is above it."""
        self.genai_above: Node | None = None
        self.any_tool_above: Node | None = None
        """Both as they are nearest, duplicates included."""
        self.acting: tuple[str | None] | None = None
        self._speaker: tuple[str | None, frozenset[str]] | None = None
        self._system: tuple[str | None] | None = None

    @property
    def kind(self) -> OperationKind:
        return self.operation.kind

    def note_above(self) -> None:
        """By what the parent noted. No kind becomes or ceases to be that of a tool, or of any other span."""
        parent = self.parent
        if parent is not None:
            self.depth = parent.depth + 1
            self.is_internal = self.operation.is_internal or parent.is_internal
            self.genai_above = parent if parent.kind is not OperationKind.OTHER else parent.genai_above
            self.any_tool_above = parent if parent.kind is OperationKind.TOOL else parent.any_tool_above

    def adopt(self, children: Iterable[Node]) -> None:
        for child in children:
            child.parent = self
            child.note_above()
            for node in child.descendants():
                node.note_above()

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def descendants(self) -> Iterator[Node]:
        """Parents first, in order of time within each level; iterative, for a trace may be deep."""
        stack = list(reversed(self.children))
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def is_below(self, top: Node) -> bool:
        """Or is it."""
        node: Node | None = self
        while node is not None and node.depth > top.depth:
            node = node.parent
        return node is top

    @property
    def tool_above(self) -> Node | None:
        """The nearest tool call that this happens under."""
        node = self.any_tool_above
        while node is not None and node.is_duplicate:
            node = node.any_tool_above
        return node

    @property
    def meaningful_parent(self) -> Node | None:
        """The nearest ancestor of any GenAI kind."""
        node = self.genai_above
        while node is not None and node.is_duplicate:
            node = node.genai_above
        return node

    @property
    def agent_name(self) -> str | None:
        """The agent that acts here, once the tree is done: the span's own, or that of the nearest agent around it."""
        agent = self.operation.agent
        if agent is not None and agent.name:
            return agent.name
        return self.genai_above.agent_around if self.genai_above is not None else None

    @property
    def agent_around(self) -> str | None:
        """The agent that acts below here, once the tree is done."""
        path: list[Node] = []
        node: Node | None = self
        found: str | None = None
        while node is not None:
            if node.acting is not None:
                found = node.acting[0]
                break
            path.append(node)
            agent = node.operation.agent
            if node.kind is OperationKind.AGENT and agent is not None and agent.name:
                found = agent.name
                break
            node = node.genai_above
        for each in path:
            each.acting = (found,)
        return found

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
