"""The main line of a conversation: what an agent did for the user, cut out of the trees.

A segment is one entry of the main line with the model calls, tool spans and handoffs under it: an outermost agent or
workflow span, or a model call or tool span that stands alone. A wrapper that does not say what the user asked is looked
into, since it may hold one turn or many. What happens under a tool call is not main line; it is nested under the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.payload_words import payload_of
from collector.assembly.said import has_calls, told_by
from collector.assembly.sections import asked_in, last_sections_of
from collector.assembly.tree import live
from collector.messages.values import squash
from collector.model import GapKind
from collector.operation import OperationKind, ToolCallPart

_MAX_DEPTH = 64
_ENTRY_KINDS = frozenset({*AGENT_LIKE, OperationKind.MODEL_CALL, OperationKind.TOOL, OperationKind.HANDOFF})


@dataclass(slots=True, eq=False)
class Segment:
    entry: Node
    outer: tuple[Node, ...] = ()
    """Wrappers around the entry, outermost first."""
    calls: list[Node] = field(default_factory=list)
    tools: list[Node] = field(default_factory=list)
    handoffs: list[Node] = field(default_factory=list)
    agents: list[Node] = field(default_factory=list)
    user_text: str | None = None
    """What the user asked, as the entry says it."""
    user_gaps: tuple[GapKind, ...] = ()
    answer: str | None = None
    """What the user was told, as the entry or a wrapper around it says it."""
    goes_on: bool = False
    """The input of the entry, or of its first call, holds more than the user's words: it goes on with a turn."""
    shown: tuple[object, list[Node]] | None = None
    """The calls that were shown last, and for what."""
    _apart: list[Segment] | None = None
    _wanted: tuple[frozenset[bytes], frozenset[str]] | None = None

    @property
    def trace_id(self) -> str:
        return self.entry.operation.trace_id

    @property
    def apart(self) -> list[Segment]:
        """Its tools and handoffs, each by itself; the same ones whenever they are asked for."""
        if self._apart is None:
            outer = (*self.outer, self.entry)
            self._apart = [_lone(node, outer) for node in (*self.tools, *self.handoffs)]
        return self._apart

    @property
    def wanted(self) -> tuple[frozenset[bytes], frozenset[str]]:
        """Digests of what its calls said, and ids of the tool calls that they asked for."""
        if self._wanted is None:
            said = [message for node in self.calls for message in node.operation.output if message.parts]
            asked = [part for message in said for part in message.parts if isinstance(part, ToolCallPart)]
            self._wanted = (
                frozenset(message.digest for message in said),
                frozenset(part.call_id for part in asked if part.call_id),
            )
        return self._wanted


def segments_of(nodes: Sequence[Node]) -> list[Segment]:
    """Of the trees of some traces, `tree.build_forest`; the conversation's main line is `main_line` of all of them."""
    found: list[Segment] = []
    for node in live(nodes):
        if node.kind in _ENTRY_KINDS and node.meaningful_parent is None and not node.is_internal:
            found += _expand(node, (), _MAX_DEPTH)
    speaking = {segment.trace_id for segment in found if segment.calls}
    for segment in found:
        if segment.trace_id in speaking and _is_fragment(segment):
            segment.answer = None
    telling = {segment.trace_id for segment in found if segment.calls or segment.user_text is not None}
    return [segment for segment in found if segment.trace_id not in telling or not _is_silent(segment)]


def main_line(segments: Sequence[Segment]) -> list[Segment]:
    """In order of time."""
    return sorted(_without_proxies(segments), key=lambda segment: segment.entry.order)


def _without_proxies(segments: Sequence[Segment]) -> Sequence[Segment]:
    """An agent that asks no model, and is told what another one answered or asked for, speaks for the user or runs the
    tools; only its tools count.
    """
    if not any(map(_is_mute, segments)):
        return segments
    told = {squash(segment.answer) for segment in segments if segment.calls and segment.answer}
    found: list[Segment] = []
    for segment in segments:
        is_told = _is_mute(segment) and segment.user_text is not None and squash(segment.user_text) in told
        given = segment.entry.operation.input
        is_asked = bool(told) and _is_mute(segment) and given is not None and has_calls(given.message)
        found += segment.apart if is_told or is_asked else (segment,)
    return found


def _is_mute(segment: Segment) -> bool:
    return not segment.calls and segment.entry.kind is OperationKind.AGENT


def _is_silent(segment: Segment) -> bool:
    """A step that a framework calls an agent: it says nothing, did nothing, and did not fail."""
    entry = segment.entry
    did = segment.calls or segment.tools or segment.handoffs or entry.operation.is_error
    return entry.kind is OperationKind.AGENT and not did and segment.user_text is None and segment.answer is None


def _is_fragment(segment: Segment) -> bool:
    """A step of a chain whose span is missing: it says what went on inside, not what the user was told."""
    entry = segment.entry
    return entry.kind is OperationKind.WORKFLOW and entry.parent_is_missing and not segment.calls


def _expand(entry: Node, outer: tuple[Node, ...], depth: int) -> list[Segment]:
    if entry.kind not in AGENT_LIKE:
        return [_lone(entry, outer)]
    segment = _segment(entry, outer)
    if segment.user_text is not None or depth <= 0:
        return [segment]
    inner = _nearest_agents(entry)
    if not _tells_more(inner, segment):
        if not segment.calls:  # nothing but wrappers, of which one further inside may say it
            asked = (sections for agent in segment.agents if (sections := asked_in(agent.operation)))
            segment.user_text = next((sections[-1].user_text for sections in asked), None)
        return [segment]
    inside = {id(node) for agent in inner for node in (agent, *agent.descendants())}
    loose = [n for n in (*segment.calls, *segment.tools, *segment.handoffs) if id(n) not in inside]
    parts = [part for agent in inner for part in _expand(agent, (*outer, entry), depth - 1)]
    parts += [_lone(node, (*outer, entry)) for node in loose]
    parts.sort(key=lambda part: part.entry.order)
    _hand_down(segment, parts)
    return parts


def _tells_more(inner: Sequence[Node], whole: Segment) -> bool:
    """Whether spans inside a wrapper say better than its model calls what the user asked. A chain's steps do not."""
    asked = [node for node in inner if asked_in(node.operation)]
    if any(node.kind is OperationKind.AGENT for node in asked):
        return True
    return bool(asked) and not any(asked_in(node.operation) for node in whole.calls)


def _hand_down(whole: Segment, parts: Sequence[Segment]) -> None:
    """The wrapper's answer belongs to its last part, where that has none of its own."""
    speaking = [part for part in parts if part.entry.kind not in {OperationKind.TOOL, OperationKind.HANDOFF}]
    if whole.answer is not None and speaking and speaking[-1].answer is None:
        speaking[-1].answer = whole.answer


def _lone(node: Node, outer: tuple[Node, ...]) -> Segment:
    segment = Segment(entry=node, outer=outer)
    match node.kind:
        case OperationKind.MODEL_CALL:
            segment.calls.append(node)
            segment.tools += [below for below in node.descendants() if _is_own(below, OperationKind.TOOL, node)]
        case OperationKind.TOOL:
            segment.tools.append(node)
        case _:
            segment.handoffs.append(node)
    return segment


def _segment(entry: Node, outer: tuple[Node, ...]) -> Segment:
    below = [node for node in entry.descendants() if not node.is_duplicate and not node.is_internal]
    main = [node for node in below if not _is_under_tool(node, entry)]
    main.sort(key=lambda node: node.order)
    calls = [node for node in main if node.kind is OperationKind.MODEL_CALL]
    sections = asked_in(entry.operation)
    said = payload_of(sections[-1].user_text, (node.operation for node in calls)) if sections else None
    return Segment(
        entry=entry,
        outer=outer,
        calls=calls,
        tools=[node for node in main if node.kind is OperationKind.TOOL],
        handoffs=[node for node in main if node.kind is OperationKind.HANDOFF],
        agents=[entry, *(node for node in main if node.kind in AGENT_LIKE)],
        user_text=said,
        user_gaps=tuple(gap for message in (sections[-1].users if sections else ()) for gap in message.gaps),
        answer=told_by(entry.operation),
        goes_on=bool(sections) and (bool(sections[-1].messages) or _begins_amid(calls)),
    )


def _begins_amid(calls: Sequence[Node]) -> bool:
    """The first call was given more than the user's words: what an approval or a resumption goes on from."""
    asked = last_sections_of(calls[0].operation.input) if calls else []
    return bool(asked and asked[-1].nodes)


def _is_own(node: Node, kind: OperationKind, top: Node) -> bool:
    return node.kind is kind and not node.is_duplicate and not node.is_internal and not _is_under_tool(node, top)


def _is_under_tool(node: Node, top: Node) -> bool:
    tool = node.tool_above
    return tool is not None and tool.depth > top.depth


def _nearest_agents(entry: Node) -> list[Node]:
    """The outermost agent-like spans under the entry that are not under a tool call."""
    found: list[Node] = []
    stack = list(reversed(entry.children))
    while stack:
        node = stack.pop()
        if node.kind in AGENT_LIKE and not node.is_duplicate and not node.is_internal:
            found.append(node)
        elif node.kind is not OperationKind.TOOL or node.is_duplicate:
            stack.extend(reversed(node.children))
    return sorted(found, key=lambda node: node.order)


def inner_segment(tool: Node) -> Segment:
    """What happened under a tool call: a sub-agent's calls and tools."""
    below = [node for node in tool.descendants() if not node.is_duplicate and not node.is_internal]
    own = sorted((node for node in below if not _is_under_tool(node, tool)), key=lambda node: node.order)
    return Segment(
        entry=tool,
        calls=[node for node in own if node.kind is OperationKind.MODEL_CALL],
        tools=[node for node in own if node.kind is OperationKind.TOOL],
        agents=[node for node in own if node.kind in AGENT_LIKE],
    )
