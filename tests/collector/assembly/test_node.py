"""What a node knows of what is above it is what a walk up the tree finds, whatever was folded."""

from __future__ import annotations

import random

import pytest

from collector.assembly.node import Node, all_above
from collector.assembly.tree import MAX_DEPTH, build_forest
from collector.model import Agent
from collector.operation import Operation, OperationKind
from tests.support.genai_spans import agent, asks, chat, read_all, span, tool


def forest(seed: int) -> list[Node]:
    rng = random.Random(seed)
    ids = [f"s{number}" for number in range(rng.randint(2, 60))]
    items = []
    for number, name in enumerate(ids):
        said = {"gen_ai.response.id": f"r{rng.randint(0, 9)}"}
        attributes = rng.choice((
            agent(rng.choice("xyz")),
            agent("", "Where?"),
            chat([asks("Where?")], "There.", **said),
            tool(rng.choice(("find", "go")), {"q": 1}, "r", call_id=f"call_{rng.randint(0, 9)}"),
            {"gen_ai.operation.name": "embeddings"},
        ))  # fmt: skip
        parent = rng.choice(["", *ids[max(0, number - 3) : number]])
        scope = rng.choice(("one", "two"))
        items.append(span(name, attributes, at=number, lasts=rng.choice((1, 90)), parent=parent, scope=scope))
    return build_forest(read_all(items))


def kept(node: Node) -> bool:
    return not node.is_duplicate


@pytest.mark.parametrize("seed", range(40))
def test_what_is_above_is_what_a_walk_finds(seed: int) -> None:
    nodes = forest(seed)

    for node in nodes:
        above = list(node.ancestors())
        named = [each.operation.agent for each in above if each.kind is OperationKind.AGENT]
        own = [node.operation.agent, *named]
        assert node.depth == len(above)
        assert node.is_internal is any(each.operation.is_internal for each in (node, *above))
        assert node.meaningful_parent is next((n for n in above if n.kind is not OperationKind.OTHER and kept(n)), None)
        assert node.tool_above is next((n for n in above if n.kind is OperationKind.TOOL and kept(n)), None)
        assert node.agent_name == next((agent.name for agent in own if agent is not None and agent.name), None)
        assert all(node.is_below(other) is (other in (node, *above)) for other in nodes)
    some = nodes[:: 1 + seed % 5]
    assert all_above(some) == {id(above) for node in some for above in node.ancestors()}


def test_a_chain_of_a_great_many_spans_is_walked_over_once_a_level() -> None:
    count = 5_000
    chain = [
        Operation(
            trace_id="t",
            span_id=str(number),
            dialect="",
            kind=OperationKind.OTHER if number % 3 else OperationKind.AGENT,
            parent_span_id=str(number - 1) if number else "",
            start_ns=number,
            end_ns=2 * count - number,
            agent=None if number else Agent(name="top"),
        )
        for number in range(count)
    ]

    nodes = build_forest(chain)

    assert max(node.depth for node in nodes) == MAX_DEPTH
    assert {node.agent_name for node in nodes} == {"top"}
