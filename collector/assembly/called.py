"""Agents that a tool call ran, where no parent says so.

Some tracers put the spans of a sub-agent beside the tool call that ran it. It is that call's all the same where it ran
within the call's time, and was asked what the call was given. Where the call has what its agent did below itself, only
a span with nothing below it can be one more of that agent's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.sections import user_input_of
from collector.assembly.spans import Spans
from collector.messages.values import squash
from collector.model import JsonValue
from collector.operation import OperationKind, ToolCallPart

_MAX_VALUES = 64
_MAX_DEPTH = 8


def put_under_their_calls(nodes: Sequence[Node]) -> None:
    """Parents are set, children not yet; nodes are in order of time."""
    with_children = {id(node.parent) for node in nodes if node.parent is not None}
    traces: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        traces[node.operation.trace_id].append(node)
    for trace in traces.values():
        tools = [node for node in trace if node.kind is OperationKind.TOOL]
        agents = [node for node in trace if node.kind is OperationKind.AGENT and _is_beside_any(node, tools)]
        if not agents:
            continue
        given = _given(tools)
        words = _FirstWords(trace)
        for agent in agents:
            text = user_input_of(agent.operation.input)
            asked = squash((text if text is not None else words.below(agent)) or "")
            found = given[asked].around(agent) if asked and asked in given else []
            if id(agent) in with_children:
                found = [tool for tool in found if id(tool) not in with_children]
            if len(found) == 1 and agent not in found[0].ancestors() and found[0] not in agent.ancestors():
                agent.parent = found[0]
                words.moved(agent)


def _is_beside_any(agent: Node, tools: Sequence[Node]) -> bool:
    """What an agent called did not run it."""
    return any(tool.parent is not agent for tool in tools)


def let_agents_stand_for_calls(nodes: Sequence[Node]) -> None:
    """An agent within another one, whose name is that of a call that a model had just asked for, is what that call ran,
    where no span of a tool says so. Parents are set, children not yet; nodes are in order of time.
    """
    traces: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        traces[node.operation.trace_id].append(node)
    for trace in traces.values():
        agents = [node for node in trace if node.kind is OperationKind.AGENT and _is_within_an_agent(node)]
        if not agents:
            continue
        tools = {node.operation.tool_name or node.operation.name for node in trace if node.kind is OperationKind.TOOL}
        asked = _first_asked(trace)
        for agent in agents:
            name = _name_of(agent)
            if name not in tools and name in asked and asked[name] <= agent.operation.start_ns:
                agent.operation = replace(agent.operation, kind=OperationKind.TOOL, tool_name=name)


def _is_within_an_agent(node: Node) -> bool:
    return any(above.kind in AGENT_LIKE for above in node.ancestors())


def _name_of(agent: Node) -> str:
    known = agent.operation.agent
    return (known.name if known is not None else None) or agent.operation.name.removesuffix(".run")


def _first_asked(trace: Sequence[Node]) -> dict[str, int]:
    """When each call's name was first asked for."""
    found: dict[str, int] = {}
    for node in trace:
        for message in node.operation.output if node.kind is OperationKind.MODEL_CALL else ():
            for part in message.parts:
                if isinstance(part, ToolCallPart) and part.name:
                    found[part.name] = min(node.operation.end_ns, found.get(part.name, node.operation.end_ns))
    return found


def _given(tools: Sequence[Node]) -> dict[str, Spans]:
    """Tool calls by what they were given."""
    found: dict[str, list[Node]] = defaultdict(list)
    for tool in tools:
        for text in {squash(text) for text in _texts(tool.operation.arguments, _MAX_DEPTH)}:
            found[text].append(tool)
    return {text: Spans(same) for text, same in found.items()}


class _FirstWords:
    """What the first call below a node was asked."""

    def __init__(self, trace: Sequence[Node]) -> None:
        self._trace = trace
        self._known: dict[int, tuple[int, str]] | None = None
        """By the node's identity: which call of the trace it is, and its words."""

    def below(self, node: Node) -> str | None:
        if self._known is None:
            self._known = {}
            for index, call in enumerate(self._trace):
                said = user_input_of(call.operation.input) if call.kind is OperationKind.MODEL_CALL else None
                if said:
                    self._note(call.ancestors(), (index, said), self._known)
        return self._known.get(id(node), (0, None))[1]

    def moved(self, node: Node) -> None:
        first = self._known.get(id(node)) if self._known is not None else None
        if self._known is not None and first is not None:
            self._note(node.ancestors(), first, self._known)

    @staticmethod
    def _note(above: Iterable[Node], first: tuple[int, str], known: dict[int, tuple[int, str]]) -> None:
        for node in above:
            before = known.get(id(node))
            if before is not None and before[0] <= first[0]:
                break  # and so have all above it
            known[id(node)] = first


def _texts(value: JsonValue, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth > 0:
        for item in list(value.values())[:_MAX_VALUES]:
            yield from _texts(item, depth - 1)
