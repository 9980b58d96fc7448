"""The operations of one conversation, as `link` groups them, to the conversation. Pure, and the same for any order.

Tree (`tree`, `grove`) -> main line (`segments`, `main_line`) -> turns in the making (`drafts`) -> steps and output
(`told_turn`), gaps (`gaps`). With a memory (`memory`) only what is new since the last time is made anew; the outcome
is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from collector.assembly.draft import Draft
from collector.assembly.gaps import gaps_of
from collector.assembly.grove import Grove, groves_of
from collector.assembly.main_line import MainLine
from collector.assembly.memory import AssemblyMemory
from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.told_turn import Told, tell
from collector.assembly.tree import live
from collector.assembly.units import Unit, operations_of, units_of
from collector.model import Agent, Conversation, ConversationIdSource, ToolDefinition, Turn, TurnStatus
from collector.operation import OperationKind

_SOURCES = tuple(ConversationIdSource)


def conversation_of(members: Sequence[Unit], memory: AssemblyMemory) -> Conversation:
    """The conversation that `link` found these to be, in order of time; it has no turns where they hold none."""
    units = members
    if not all(unit.is_whole for unit in members):
        # Of the traces that were cut, all that belongs here, as if nothing else had been.
        units = units_of(memory.traces_of(members), known=memory.units)
    return conversation_told(units, groves_of(units, memory.groves), memory.main_line_of(units))


def conversation_told(units: Sequence[Unit], groves: Sequence[Grove], main_line: MainLine) -> Conversation:
    """The conversation of these units, whose trees the groves are; the same however those are cut, as long as they may
    be (see `grove`), and whatever the main line was before.
    """
    drafts = main_line.turns_of(groves)
    calls = [node for draft in drafts for node in draft.calls]
    identity, source = _identity(units)
    return Conversation(
        conversation_id=identity,
        conversation_id_source=source,
        service=units[0].service if units else None,
        agent=_agent(drafts, groves),
        system_instructions=_system(calls, groves),
        tool_definitions=_definitions(calls, groves),
        turns=tuple(_turns(drafts)),
        resource=dict(_resource(units)),
    )


def _identity(units: Sequence[Unit]) -> tuple[str, ConversationIdSource]:
    """The id and where it is from; without one, the first trace's id, which stays as the conversation grows."""
    named = [unit for unit in units if unit.conversation_id is not None and unit.source is not None]
    if named:
        best = min((unit.source for unit in named if unit.source is not None), key=_SOURCES.index)
        return named[0].conversation_id or "", best
    first = units[0].trace_id if units else ""
    if len({unit.trace_id for unit in units}) < 2:
        return first, ConversationIdSource.TRACE_ID
    known = {op.response_id for op in operations_of(units) if op.response_id}
    if any(op.previous_response_id in known or op.conversation_id in known for op in operations_of(units)):
        return first, ConversationIdSource.RESPONSE_ID
    return first, ConversationIdSource.HISTORY


def _turns(drafts: Sequence[Draft]) -> Iterator[Turn]:
    """A draft that is as it was when a turn was made of it gives that turn again."""
    shared = _shared(drafts)
    for index, draft in enumerate(drafts):
        own = shared.intersection(map(id, draft.wrappers)) if shared else shared
        if draft.turn is None or draft.turn[0] != own or draft.turn[1].index != index:
            # Telling uses the items up, and the draft may have to go on from them.
            draft.turn = (own, _turn(index, draft.copy(), own))
        yield draft.turn[1]


def _turn(index: int, draft: Draft, shared: Collection[int]) -> Turn:
    told = tell(draft)
    target = _target(draft, shared, told)
    nodes = _nodes(draft)
    operations = [node.operation for node in nodes]
    last = draft.calls[-1].operation if draft.calls else None
    failed = target.operation.is_error if target.kind in AGENT_LIKE else bool(last and last.is_error)
    is_error = failed and told.output is None
    output_node = told.output_node
    sent, given = _usage(draft, shared, nodes)
    return Turn(
        index=index,
        trace_id=target.operation.trace_id,
        span_id=target.operation.span_id,
        user_input=draft.user_text or None,
        steps=told.steps,
        output=told.output,
        status=TurnStatus.ERROR if is_error else TurnStatus.INCOMPLETE if told.output is None else TurnStatus.OK,
        gaps=gaps_of(draft, told, nodes, is_error=is_error),
        start_ns=min((op.start_ns for op in operations if op.start_ns), default=0),
        end_ns=max((op.end_ns for op in operations), default=0),
        agent=(output_node.agent_name if output_node else None) or target.agent_name,
        model=output_node.operation.model if output_node else target.operation.model,
        response_id=output_node.operation.response_id if output_node and told.output is not None else None,
        input_tokens=sent,
        output_tokens=given,
        is_stand_in=target.operation.is_stand_in,
    )


def _shared(drafts: Sequence[Draft]) -> frozenset[int]:
    """Spans around more than one turn."""
    counts = Counter([id(node) for draft in drafts for node in draft.wrappers])
    return frozenset(identity for identity, count in counts.items() if count > 1)


def _target(draft: Draft, shared: Collection[int], told: Told) -> Node:
    """The outermost agent or workflow span that holds this turn and no other; else the call that answered."""
    if draft.is_unseen and draft.seen_by is not None:
        return draft.seen_by
    for node in draft.wrappers:
        if node.kind in AGENT_LIKE and id(node) not in shared:
            return node
    if told.output_node is not None:
        return told.output_node
    return draft.segments[0].entry


def _nodes(draft: Draft) -> list[Node]:
    found = {id(node): node for node in (*draft.calls, *draft.tools, *draft.handoffs)}
    if draft.seen_by is not None and not found:
        return []
    for segment in draft.segments:
        found.setdefault(id(segment.entry), segment.entry)
    return list(found.values())


def _usage(draft: Draft, shared: Collection[int], nodes: Sequence[Node]) -> tuple[int | None, int | None]:
    """The sum over the turn's model calls, nested and internal ones as well; an agent's own sum only without them."""
    tops = [segment.entry for segment in draft.segments if id(segment.entry) not in shared]
    counted = {id(node): node for node in draft.calls}
    for top in (*tops, *draft.tools):
        below = [node for node in (top, *top.descendants()) if node.kind is OperationKind.MODEL_CALL]
        counted.update((id(node), node) for node in live(below))
    usages = [node.operation.usage for node in counted.values() if node.operation.usage is not None]
    if not usages:
        usages = [
            node.operation.usage for node in nodes if node.kind in AGENT_LIKE and node.operation.usage is not None
        ]
    sent = [usage.input_tokens for usage in usages if usage.input_tokens is not None]
    given = [usage.output_tokens for usage in usages if usage.output_tokens is not None]
    return (sum(sent) if sent else None, sum(given) if given else None)


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node.order)


def _agent(drafts: Sequence[Draft], groves: Sequence[Grove]) -> Agent:
    """The agent that took the user's first words; where no turn names one, the first that any span names."""
    for draft in drafts:
        for node in draft.wrappers:
            agent = node.operation.agent
            if agent is not None and agent.name and node.kind is OperationKind.AGENT:
                return agent
    nodes = _in_order(node for grove in groves for node in grove.nodes)
    return next((node.operation.agent for node in nodes if node.operation.agent is not None), Agent())


def _system(calls: Sequence[Node], groves: Sequence[Grove]) -> str | None:
    """The system prompts of the agents on the main line, in order of appearance; of one agent the latest."""
    speaking = calls or _in_order(node for grove in groves for node in grove.agents)
    of_speaker: dict[object, list[Node]] = {}
    for node in speaking:
        of_speaker.setdefault(node.speaker, []).append(node)
    prompts: dict[object, str] = {}
    for key, own in of_speaker.items():
        text = next((text for node in reversed(own) if (text := node.system)), None)
        if text:
            prompts[key] = text
    if not prompts:
        found = sorted((prompt for grove in groves for prompt in grove.prompts), key=lambda prompt: prompt[0].order)
        for node, text in found:
            prompts.setdefault(node.agent_name, text)
    return "\n\n".join(dict.fromkeys(prompts.values())) or None


def _definitions(calls: Sequence[Node], groves: Sequence[Grove]) -> tuple[ToolDefinition, ...]:
    found: dict[str, ToolDefinition] = {}
    looked_at: set[int] = set()
    for node in (*calls, *_in_order(node for grove in groves for node in grove.agents)):
        tools = node.operation.tool_definitions
        if tools and id(tools) not in looked_at:  # As a rule all calls share one list.
            looked_at.add(id(tools))
            for tool in tools:
                found.setdefault(tool.name, tool)
    return tuple(found.values())


def _resource(units: Sequence[Unit]) -> dict[str, str]:
    for unit in units:
        for operation in unit.operations:
            if operation.resource:
                return dict(operation.resource)
    return {}
