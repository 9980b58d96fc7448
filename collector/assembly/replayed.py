"""What the inputs of a conversation's calls repeat of it, and which calls are shown for that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.assembly.grove import Grove
from collector.assembly.node import Node
from collector.assembly.said import answer_of, same_text, told_by
from collector.assembly.segments import Segment
from collector.operation import Chain, OperationKind, ToolCallPart, ToolResultPart


class Replayed:
    """Digests of the messages, and the tool-call ids, that some call's input or agent's output repeats.

    Each list is walked over once while the conversation grows; where something it held is gone, all are anew.
    """

    def __init__(self) -> None:
        self.digests: set[bytes] = set()
        self.call_ids: set[str] = set()
        self._inputs: dict[int, Chain] = {}
        self._walked: set[int] = set()
        """Identities of lists that `_inputs` hold."""
        self._given_back: set[bytes] = set()

    def look_at(self, groves: Iterable[Grove]) -> None:
        inputs: dict[int, Chain] = {}
        given_back: set[bytes] = set()
        for grove in groves:
            inputs.update(grove.inputs)
            given_back |= grove.given_back
        if not (self._inputs.keys() <= inputs.keys() and self._given_back <= given_back):
            self.digests, self.call_ids = set(), set()
            self._inputs, self._walked, self._given_back = {}, set(), set()
        for identity, chain in inputs.items():
            if identity not in self._inputs:
                self._walk(chain)
        self.digests |= given_back
        self._inputs, self._given_back = inputs, given_back

    def _walk(self, chain: Chain | None) -> None:
        while chain is not None and id(chain) not in self._walked:
            self._walked.add(id(chain))
            self.digests.add(chain.message.digest)
            for part in chain.message.parts:
                if isinstance(part, (ToolCallPart, ToolResultPart)) and part.call_id:
                    self.call_ids.add(part.call_id)
            chain = chain.parent

    def shown_calls(self, segment: Segment, givers: frozenset[int]) -> list[Node]:
        """The calls whose answer the conversation went on from, the user was told, another call worked on (`givers`,
        by identity), or that led to a tool; else the last.

        A call that is none of these (a router, a guardrail, a title) is nothing that a user saw.
        """
        said, asked = segment.wanted
        by = (said & self.digests, asked & self.call_ids, givers.intersection(map(id, segment.calls)))
        if segment.shown is None or segment.shown[0] != by:
            segment.shown = (by, _shown_calls(segment, *by))
        return segment.shown[1]


def _shown_calls(
    segment: Segment, repeated: frozenset[bytes], answered: frozenset[str], givers: frozenset[int]
) -> list[Node]:
    tools = {node.operation.tool_name for node in segment.tools}
    speaking = [node for node in segment.calls if node.operation.output]
    if not speaking:
        return [n for n in segment.calls if n.operation.input is not None] or list(segment.calls)
    answers = _answers(segment)
    is_told = any(same_text(answer_of(node.operation.output), segment.answer) for node in speaking)
    shown: list[Node] = []
    for node in segment.calls:
        output = node.operation.output
        parts = [part for message in output for part in message.parts]
        went_on = any(message.digest in repeated for message in output if message.parts)
        asked = any(p.call_id in answered or p.name in tools for p in parts if isinstance(p, ToolCallPart))
        told = any(same_text(answer_of(output), answer) for answer in answers)
        unanswered = not output and node.operation.input is not None
        gave = id(node) in givers
        if went_on or asked or told or gave or unanswered or (node is speaking[-1] and not is_told):
            shown.append(node)
    return shown


def _answers(segment: Segment) -> Sequence[str | None]:
    """A step of a chain that tells its own outcome says nothing of what the user was told, where the chain does."""
    is_silent = segment.answer is None
    tellers = [n for n in segment.agents if is_silent or n.kind is OperationKind.AGENT or n is segment.entry]
    return [*(told_by(agent.operation) for agent in tellers), segment.answer]
