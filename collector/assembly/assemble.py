"""The operations of one conversation, as `link` groups them, to the conversation. Pure, and the same for any order.

Tree (`tree`) -> main line (`segments`) -> turns in the making (`drafts`) -> steps and output (`steps`), gaps (`gaps`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from collector.assembly.drafts import Draft, Drafts
from collector.assembly.gaps import gaps_of
from collector.assembly.node import AGENT_LIKE, Node
from collector.assembly.said import system_of
from collector.assembly.steps import Told, tell
from collector.assembly.tree import build_forest, live
from collector.assembly.units import Unit, response_ids_of, units_of
from collector.model import Agent, Conversation, ConversationIdSource, ToolDefinition, Turn, TurnStatus
from collector.operation import Operation, OperationKind

_SOURCES = tuple(ConversationIdSource)


def assemble(operations: Iterable[Operation]) -> Conversation:
    """The conversation; it has no turns where the operations hold none. Operations are merged, one a span."""
    every = tuple(operations)
    units = units_of(every, response_ids=response_ids_of(every))
    nodes = build_forest([operation for unit in units for operation in unit.operations])
    drafts = Drafts(nodes).turns
    shared = _shared(drafts)
    turns = [_turn(index, draft, shared) for index, draft in enumerate(drafts)]
    calls = [node for draft in drafts for node in draft.calls]
    identity, source = _identity(units, every)
    return Conversation(
        conversation_id=identity,
        conversation_id_source=source,
        service=units[0].service if units else None,
        agent=_agent(drafts, nodes),
        system_instructions=_system(calls, nodes),
        tool_definitions=_definitions(calls, nodes),
        turns=tuple(turns),
        resource=dict(_resource(units)),
    )


def _identity(units: Sequence[Unit], operations: Sequence[Operation]) -> tuple[str, ConversationIdSource]:
    """The id and where it is from; without one, the first trace's id, which stays as the conversation grows."""
    named = [unit for unit in units if unit.conversation_id is not None and unit.source is not None]
    if named:
        best = min((unit.source for unit in named if unit.source is not None), key=_SOURCES.index)
        return named[0].conversation_id or "", best
    first = units[0].trace_id if units else ""
    known = response_ids_of(operations)
    if len({unit.trace_id for unit in units}) < 2:
        return first, ConversationIdSource.TRACE_ID
    if any(op.previous_response_id in known or op.conversation_id in known for op in operations if op):
        return first, ConversationIdSource.RESPONSE_ID
    return first, ConversationIdSource.HISTORY


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
    counts = Counter(id(node) for draft in drafts for node in _wrappers(draft))
    return frozenset(identity for identity, count in counts.items() if count > 1)


def _target(draft: Draft, shared: Collection[int], told: Told) -> Node:
    """The outermost agent or workflow span that holds this turn and no other; else the call that answered."""
    if draft.is_unseen and draft.seen_by is not None:
        return draft.seen_by
    for node in _wrappers(draft):
        if node.kind in AGENT_LIKE and id(node) not in shared:
            return node
    if told.output_node is not None:
        return told.output_node
    return draft.segments[0].entry


def _wrappers(draft: Draft) -> list[Node]:
    """Agent-like spans around what the turn did, outermost first."""
    found: dict[int, Node] = {}
    for segment in draft.segments:
        for node in (*segment.outer, segment.entry):
            found.setdefault(id(node), node)
    for call in draft.calls:
        for node in reversed(list(call.ancestors())):
            if node.kind in AGENT_LIKE and not node.is_duplicate:
                found.setdefault(id(node), node)
    return list(found.values())


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


def _agent(drafts: Sequence[Draft], nodes: Sequence[Node]) -> Agent:
    """The agent that took the user's first words; where no turn names one, the first that any span names."""
    for draft in drafts:
        for node in _wrappers(draft):
            agent = node.operation.agent
            if agent is not None and agent.name and node.kind is OperationKind.AGENT:
                return agent
    return next((node.operation.agent for node in nodes if node.operation.agent is not None), Agent())


def _system(calls: Sequence[Node], nodes: Sequence[Node]) -> str | None:
    """The system prompts of the agents on the main line, in order of appearance; of one agent the latest."""
    speaking = list(calls) or [node for node in nodes if node.kind is OperationKind.AGENT]
    prompts: dict[object, str] = {}
    for key, own in _by_agent(speaking).items():
        text = next((text for node in reversed(own) if (text := system_of(node.operation))), None)
        if text:
            prompts[key] = text
    if not prompts:
        for node in nodes:
            text = system_of(node.operation) if node.kind in AGENT_LIKE else node.operation.system_instructions
            if text and not node.is_internal and node.nearest((OperationKind.TOOL,)) is None:
                prompts.setdefault(node.agent_name, text)
    return "\n\n".join(dict.fromkeys(prompts.values())) or None


def _by_agent(nodes: Sequence[Node]) -> dict[object, list[Node]]:
    """Agents without names of their own are told by their tools."""
    found: dict[object, list[Node]] = {}
    for node in nodes:
        tools = frozenset(tool.name for tool in node.operation.tool_definitions or ())
        found.setdefault((node.agent_name, tools), []).append(node)
    return found


def _definitions(calls: Sequence[Node], nodes: Sequence[Node]) -> tuple[ToolDefinition, ...]:
    found: dict[str, ToolDefinition] = {}
    for node in (*calls, *(n for n in nodes if n.kind is OperationKind.AGENT)):
        for tool in node.operation.tool_definitions or ():
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def _resource(units: Sequence[Unit]) -> dict[str, str]:
    for unit in units:
        for operation in unit.operations:
            if operation.resource:
                return dict(operation.resource)
    return {}
