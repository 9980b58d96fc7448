"""The items of a turn to its steps, in order, with what a sub-agent did nested under the call that it worked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collector.assembly.absorb_messages import Source, absorb_input, absorb_output
from collector.assembly.items import CallItem, HandoffItem, Item, Items, TextItem
from collector.assembly.node import Node
from collector.assembly.own_errors import add_errors, with_own_error
from collector.assembly.pairing import pair_tools
from collector.assembly.sections import tail_of
from collector.assembly.segments import inner_segment
from collector.messages.values import canonical, squash
from collector.model import HandoffStep, JsonValue, MessageStep, Step, ToolCallStep, ToolResultStep

_MAX_NESTING = 16


def steps_of(items: Sequence[Item]) -> Iterator[Step]:
    return _steps(items, None, _MAX_NESTING)


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
    add_errors(items)
    return [item for item in items.items if not _repeats_result(item, call.result)]


def _repeats_result(item: Item, result: JsonValue) -> bool:
    """The sub-agent's last words are the tool's result; they are told once."""
    if not isinstance(item, TextItem):
        return False
    return canonical(item.text) == canonical(result) or (
        isinstance(result, str) and squash(item.text) == squash(result)
    )
