"""Agents that a tool call ran, where no parent says so.

Some tracers put the spans of a sub-agent beside the tool call that ran it. It is that call's all the same where it ran
within the call's time, and was asked what the call was given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from collector.assembly.node import Node
from collector.assembly.said import user_input_of
from collector.messages.values import squash
from collector.model import JsonValue
from collector.operation import OperationKind

_MAX_VALUES = 64
_MAX_DEPTH = 8


def put_under_their_calls(nodes: Sequence[Node]) -> None:
    """Parents are set, children not yet."""
    with_children = {id(node.parent) for node in nodes if node.parent is not None}
    traces: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        traces[node.operation.trace_id].append(node)
    for trace in traces.values():
        tools = [node for node in trace if node.kind is OperationKind.TOOL and id(node) not in with_children]
        for agent in trace if tools else ():
            if agent.kind is OperationKind.AGENT:
                asked = _asked(agent, trace)
                found = [tool for tool in tools if asked and _ran(tool, agent, asked)]
                if len(found) == 1 and agent not in found[0].ancestors():
                    agent.parent = found[0]


def _ran(tool: Node, agent: Node, asked: str) -> bool:
    one, two = tool.operation, agent.operation
    if not (one.start_ns <= two.start_ns and two.end_ns <= one.end_ns):
        return False
    return any(squash(text) == asked for text in _texts(one.arguments, _MAX_DEPTH))


def _asked(agent: Node, trace: Sequence[Node]) -> str | None:
    """By its own input, else by that of its first call."""
    text = user_input_of(agent.operation.input)
    if text is None:
        own = (node for node in trace if node.kind is OperationKind.MODEL_CALL and agent in node.ancestors())
        text = next((said for node in own if (said := user_input_of(node.operation.input))), None)
    return squash(text) if text else None


def _texts(value: JsonValue, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth > 0:
        for item in list(value.values())[:_MAX_VALUES]:
            yield from _texts(item, depth - 1)
