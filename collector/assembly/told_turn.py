"""A turn's draft to what is told of the turn: tool spans paired with calls, handoffs added, the output taken out of the
items, and the rest of them made steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from collector.assembly.absorb_messages import Source, absorb_input
from collector.assembly.draft import Draft
from collector.assembly.handoffs import add_handoffs, is_handoff
from collector.assembly.items import Item, Items, TextItem
from collector.assembly.node import Node, all_above
from collector.assembly.own_errors import add_errors
from collector.assembly.pairing import pair_tools
from collector.assembly.said import is_cut, is_human
from collector.assembly.steps import steps_of
from collector.assembly.turn_output import output_of, take_output_call
from collector.model import Step


@dataclass(frozen=True, slots=True)
class Told:
    """The steps of a turn and its output."""

    steps: tuple[Step, ...]
    output: str | None
    output_node: Node | None


def tell(draft: Draft) -> Told:
    items = draft.items
    for agent in _agents_without_calls(draft):
        _absorb_agent(items, agent)
    pair_tools(items, draft.tools)
    add_errors(items)
    _drop_unseen_calls(draft)
    add_handoffs(items, draft.handoffs)
    given = take_output_call(draft)
    output, said = (given, None) if given is not None else output_of(draft)
    kept = [item for item in items.items if _is_step(item, said)]
    node = next((n for n in draft.calls if said is not None and n.operation.span_id == said.span_id), None)
    if node is None and draft.calls:
        node = draft.calls[-1]
    return Told(steps=tuple(steps_of(kept)), output=output, output_node=node)


def _agents_without_calls(draft: Draft) -> list[Node]:
    """Agent spans that are the only ones to tell what they did."""
    agents = [agent for segment in draft.segments for agent in segment.agents]
    with_calls = all_above(draft.calls)
    silent = [agent for agent in agents if id(agent) not in with_calls]
    inner = all_above(silent)
    return [agent for agent in agents if id(agent) not in inner or id(agent) in with_calls]


def _absorb_agent(items: Items, agent: Node) -> None:
    operation = agent.operation
    fill_only = bool(items.items)
    said = list(operation.output)
    last = max((index for index, message in enumerate(said) if is_human(message)), default=-1)
    source = Source(operation.end_ns, operation.span_id, agent.agent_name)
    absorb_input(items, said[last + 1 :], source, fill_only=fill_only)


def _drop_unseen_calls(draft: Draft) -> None:
    """A call that no tool span and no later message knows, in a turn that was answered all the same: an output tool."""
    answered = draft.answer is not None or draft.has_answer
    knows_history = any(node.operation.input is not None for node in draft.calls)
    if not answered or not knows_history or any(is_cut(node.operation) for node in draft.calls):
        return
    last = draft.calls[-1].operation.span_id
    for item in draft.items.calls:
        went_on = item.has_result or item.tool is not None or is_handoff(item.name)
        if not went_on and item.is_replayed is False and (item.span_id != last or draft.answer is not None):
            draft.items.items.remove(item)


def _is_step(item: Item, said: TextItem | None) -> bool:
    if isinstance(item, TextItem):
        return item is not said and (item.is_replayed or item.asks)
    return True
