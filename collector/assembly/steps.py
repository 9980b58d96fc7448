"""A turn's draft to its steps and output: tool spans paired with calls, handoffs told, nested sub-agents under their
call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from collector.assembly.absorb_messages import Source, absorb_input, absorb_output
from collector.assembly.draft import Draft
from collector.assembly.items import CallItem, HandoffItem, Item, Items, TextItem
from collector.assembly.node import AGENT_LIKE, Node, all_above
from collector.assembly.own_errors import own_error, with_own_error
from collector.assembly.pairing import pair_tools
from collector.assembly.said import contains, is_cut, is_human, same_text, tail_of
from collector.assembly.segments import inner_segment
from collector.messages.reprs import is_printed_object
from collector.messages.values import canonical, decode, decode_container, dump, squash
from collector.model import HandoffStep, JsonValue, MessageStep, Step, ToolCallStep, ToolResultStep
from collector.operation import OperationKind

_HANDOFF = re.compile(
    r"^(?:transfer_(?:back_)?to_|hand_?off_to_|hand_?over_to_|delegate_to_|hand_?off$)(?P<to>.*)$", re.IGNORECASE
)
_TARGET_KEYS = ("agent_name", "agent", "to_agent", "assistant", "target", "name")
_MAX_NESTING = 16


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
    _tell_errors(items)
    _drop_unseen_calls(draft)
    _add_handoffs(items, draft.handoffs)
    given = _take_output_call(draft)
    output, said = (given, None) if given is not None else _output(draft)
    kept = [item for item in items.items if _is_step(item, said)]
    node = next((n for n in draft.calls if said is not None and n.operation.span_id == said.span_id), None)
    if node is None and draft.calls:
        node = draft.calls[-1]
    return Told(steps=tuple(_steps(kept, None, _MAX_NESTING)), output=output, output_node=node)


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


def _tell_errors(items: Items) -> None:
    """A tool that failed and gave nothing back: its error is what is known of the result."""
    for call in items.calls:
        node = call.tool
        if isinstance(node, Node) and not call.has_result and node.operation.is_error and node.operation.error:
            error = own_error(node, None) or node.operation.error
            items.give_result(call, error, is_error=True, span_id=node.operation.span_id, agent=node.agent_name)


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


def _take_output_call(draft: Draft) -> str | None:
    """The answer that is the only argument of the turn's last call, or all of them: how a framework has its model end a
    turn.

    The agent's own answer, where one is told, is the same, whatever the tool gave back; else what it gave back is.
    """
    items = draft.items.items
    last = items[-1] if items else None
    if not draft.segments or not isinstance(last, CallItem) or not isinstance(last.arguments, Mapping):
        return None
    if draft.answer is not None and last.arguments and canonical(decode(draft.answer)) == canonical(last.arguments):
        items.remove(last)
        return draft.answer
    values = list(last.arguments.values())
    if len(values) != 1 or not values[0]:
        return None
    given = draft.answer if draft.answer is not None else last.result
    if canonical(given) != canonical(values[0]):
        return None
    agent = draft.segments[-1].entry
    ended = agent.kind in AGENT_LIKE or (agent.kind is OperationKind.MODEL_CALL and last.is_replayed)
    told = canonical(draft.answer) == canonical(values[0]) if draft.answer is not None else ended
    if not told or agent.operation.is_error or last.is_error:
        return None
    items.remove(last)
    return values[0] if isinstance(values[0], str) else dump(values[0])


def _add_handoffs(items: Items, handoffs: Sequence[Node]) -> None:
    for node in sorted(handoffs, key=lambda node: node.order):
        operation = node.operation
        if operation.to_agent:
            items.insert(HandoffItem(operation.to_agent, operation.from_agent, operation.start_ns, operation.span_id))
    told = {item.to_agent for item in items.items if isinstance(item, HandoffItem)}
    for call in items.calls:
        target = _handoff_target(call)
        if target is not None and target not in told:
            position = items.items.index(call) + 1
            items.items.insert(position, HandoffItem(target, call.agent, call.time_ns, call.span_id))


def is_handoff(name: str) -> bool:
    return _HANDOFF.match(name) is not None


def _handoff_target(call: CallItem) -> str | None:
    found = _HANDOFF.match(call.name)
    if found is None:
        return None
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    named = next((v for key in _TARGET_KEYS if isinstance(v := arguments.get(key), str) and v), None)
    if found["to"].lower() in {"agent", ""}:
        return named
    return found["to"]


def _output(draft: Draft) -> tuple[str | None, TextItem | None]:
    """The answer, and the item that it is: what the agent span says, else the last text that asks for nothing more."""
    texts = draft.items.texts
    candidates = [item for item in texts if not item.asks]
    if draft.answer is not None:
        told = decode_container(draft.answer)
        is_told = (t for t in reversed(texts) if same_text(t.text, draft.answer) or _is_value(t.text, told))
        item = next(is_told, None)
        if item is not None:
            return item.text, item
        item = next((t for t in reversed(candidates) if contains(draft.answer, t.text) and len(t.text) > 1), None)
        is_state = told is not None or is_printed_object(draft.answer)
        if item is not None and (is_state or _is_all_that_was_said(draft.answer, texts, item)):
            return item.text, item
        return draft.answer, item
    calls = [index for index, item in enumerate(draft.items.items) if isinstance(item, CallItem)]
    last_call = calls[-1] if calls else -1
    after = [t for t in draft.items.items[last_call + 1 :] if isinstance(t, TextItem) and not t.asks]
    after = [text for text in after if same_text(text.text, draft.kept)] or after
    return (after[-1].text, after[-1]) if after else (None, None)


def _is_value(text: str, told: JsonValue) -> bool:
    """A structured answer may be recorded as another text than the model wrote."""
    return told is not None and text[:1] in ("{", "[") and canonical(decode_container(text)) == canonical(told)


def _is_all_that_was_said(answer: str, texts: Sequence[TextItem], last: TextItem) -> bool:
    """A streamed answer may be recorded with what was said before each tool call; those are steps."""
    said = [text.text for text in texts[: texts.index(last) + 1]]
    return len(said) > 1 and "".join("".join(said).split()) == "".join(answer.split())


def _is_step(item: Item, said: TextItem | None) -> bool:
    if isinstance(item, TextItem):
        return item is not said and (item.is_replayed or item.asks)
    return True


def _steps(items: Sequence[Item], parent: str | None, depth: int) -> Iterator[Step]:
    """In order; the calls of one message together, then their results in the order in which those came."""
    position = 0
    while position < len(items):
        item = items[position]
        if isinstance(item, TextItem):
            yield MessageStep(text=item.text, agent=item.agent, span_id=item.span_id, parent_call_id=parent)
            position += 1
        elif isinstance(item, HandoffItem):
            yield HandoffStep(to_agent=item.to_agent, from_agent=item.from_agent, span_id=item.span_id)
            position += 1
        else:
            group = _group_at(items, position)
            yield from _call_steps(group, parent, depth)
            position += len(group)


def _group_at(items: Sequence[Item], position: int) -> list[CallItem]:
    first = items[position]
    found: list[CallItem] = []
    for at in range(position, len(items)):
        item = items[at]
        if not isinstance(item, CallItem) or not isinstance(first, CallItem):
            break
        if found and (item.group is None or item.group != first.group):
            break
        found.append(item)
    return found


def _call_steps(group: Sequence[CallItem], parent: str | None, depth: int) -> Iterator[Step]:
    for call in group:
        if call.is_orphan:
            continue
        inner = _inner_steps(call, depth)
        if inner and call.call_id is None:
            call.call_id = call.span_id  # nested steps need something to name their call by
        yield ToolCallStep(
            name=call.name,
            arguments=call.arguments,
            call_id=call.call_id,
            span_id=call.span_id,
            agent=call.agent,
            group=call.group,
            parent_call_id=parent,
        )
        yield from _steps(inner, call.call_id, depth - 1)
    for call in sorted((c for c in group if c.has_result), key=lambda c: c.result_order):
        yield ToolResultStep(
            result=_result(call),
            name=call.name or None,
            call_id=call.call_id,
            is_error=call.is_error,
            span_id=call.result_span_id,
            agent=call.result_agent or call.agent,
            parent_call_id=parent,
        )


def _result(call: CallItem) -> JsonValue:
    if call.is_error and isinstance(call.tool, Node):
        return with_own_error(call.tool, call.result)
    return call.result


def _inner_steps(call: CallItem, depth: int) -> list[Item]:
    if depth <= 0 or not isinstance(call.tool, Node):
        return []
    segment = inner_segment(call.tool)
    if not segment.calls and not segment.tools:
        return []
    items = Items()
    for node in segment.calls:
        operation = node.operation
        given = [end.message for end in tail_of(operation.input)]
        asked = Source(operation.start_ns, operation.span_id, node.agent_name)
        absorb_input(items, given, asked, is_delta=operation.input_is_delta)
        absorb_output(items, operation.output, Source(operation.end_ns, operation.span_id, node.agent_name))
    pair_tools(items, segment.tools)
    _tell_errors(items)
    return [item for item in items.items if not _repeats_result(item, call.result)]


def _repeats_result(item: Item, result: JsonValue) -> bool:
    """The sub-agent's last words are the tool's result; they are told once."""
    if not isinstance(item, TextItem):
        return False
    return canonical(item.text) == canonical(result) or (
        isinstance(result, str) and squash(item.text) == squash(result)
    )
