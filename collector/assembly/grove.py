"""The trees of one trace, or of traces that told of the same calls, and what they add to a conversation.

Nearly every trace stands alone: whatever is made of its spans stays right when other traces come, unless those overlap
with it in time and hold something that calls are compared by. So groves can be kept while a conversation grows, and
are as if all trees had been built together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial

from collector.assembly.memo import Memo
from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.segments import Segment, segments_of
from collector.assembly.tree import build_forest
from collector.assembly.units import Unit, operations_of, units_by_trace
from collector.operation import Chain, OperationKind


class Grove:
    """Once built, its nodes and segments change no more."""

    def __init__(self, units: tuple[Unit, ...]) -> None:
        operations = tuple(operations_of(units))
        self.units = units
        self.keys: set[object] = set()
        self.nodes = build_forest(operations, met=self.keys)
        self.first_ns = min(operation.start_ns for operation in operations)
        self.last_ns = max(operation.end_ns for operation in operations)

    def release(self) -> None:
        """Not used any more: what points down its trees is let go, so that no circles are left."""
        for node in self.nodes:
            node.children = []
            node.duplicates = []

    @cached_property
    def segments(self) -> list[Segment]:
        return segments_of(self.nodes)

    @cached_property
    def inputs(self) -> dict[int, Chain]:
        """By identity."""
        chains = [node.operation.input for node in self.nodes]
        return {id(chain): chain for chain in chains if chain is not None}

    @cached_property
    def given_back(self) -> frozenset[bytes]:
        """Digests of what agents gave back as the conversation. One within another one, or a step, that gives back one
        message repeats no conversation.
        """
        agents = [node for node in self.nodes if node.kind in AGENT_LIKE]
        telling = [node for node in agents if len(node.operation.output) > 1 or node.meaningful_parent is None]
        return frozenset(message.digest for node in telling for message in node.operation.output)

    @cached_property
    def agents(self) -> list[Node]:
        return [node for node in self.nodes if node.kind is OperationKind.AGENT]

    @cached_property
    def prompts(self) -> list[tuple[Node, str]]:
        """System prompts of spans that no tool call is around; of agents as of calls."""
        found: list[tuple[Node, str]] = []
        for node in self.nodes:
            text = node.system if node.kind in AGENT_LIKE else node.operation.system_instructions
            if text and not node.is_internal and node.tool_above is None:
                found.append((node, text))
        return found


def groves_of(units: Iterable[Unit], known: Memo[Grove]) -> list[Grove]:
    """Of the units of one conversation."""
    alone = [known.of(same, partial(Grove, same)) for same in units_by_trace(units)]
    alone.sort(key=lambda grove: grove.first_ns)
    found: list[Grove] = []
    together: list[Grove] = []
    last_ns = 0
    for grove in alone:
        if together and grove.first_ns > last_ns:
            found += _joined(together, known)
            together = []
        last_ns = max(last_ns, grove.last_ns) if together else grove.last_ns
        together.append(grove)
    return [*found, *_joined(together, known)]


def _joined(groves: Sequence[Grove], known: Memo[Grove]) -> Sequence[Grove]:
    """Of traces that overlap in time."""
    if len(groves) < 2:
        return groves
    if sum(len(grove.keys) for grove in groves) == len(set().union(*(grove.keys for grove in groves))):
        return groves
    units = tuple(unit for grove in groves for unit in grove.units)
    return [known.of(units, partial(Grove, units), under="joined")]
