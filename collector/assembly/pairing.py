"""Tool spans to the calls that they are of: each to one, by id, else by name and arguments, else by name, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.assembly.items import CallItem, Items
from collector.assembly.node import Node
from collector.messages.values import canonical
from collector.model import GapKind
from collector.operation import Operation

_NOTHING = (None, "", "null", "None")
"""What a tool that gave nothing back, or has not yet, is recorded with."""


def pair_tools(items: Items, tools: Sequence[Node]) -> None:
    """Each tool span to its call: by id, else by name and arguments, else by name, in order; else a call of its own."""
    left = sorted(tools, key=lambda node: node.order)
    for matches in (_same_id, _same_name_and_arguments, _same_name):
        free = [call for call in items.calls if call.tool is None and not call.is_orphan]
        unmatched: list[Node] = []
        for node in left:
            call = next((c for c in free if matches(c, node.operation)), None)
            if call is None:
                unmatched.append(node)
            else:
                free.remove(call)
                _give_tool(items, call, node)
        left = unmatched
    left = _call_orphans(items, left)
    for node in left:
        operation = node.operation
        if _is_known(items, operation) or not _name_of(operation):
            continue
        call = CallItem(
            name=_name_of(operation),
            arguments=operation.arguments,
            time_ns=operation.start_ns,
            span_id=operation.span_id,
            call_id=operation.call_id,
            has_arguments=operation.has_arguments,
            agent=node.agent_name,
        )
        items.insert(call)
        _give_tool(items, call, node)


def _call_orphans(items: Items, tools: Sequence[Node]) -> list[Node]:
    """Results whose calls no message tells of are those of the tool spans, in order; gives the spans that are left."""
    left = list(tools)
    for orphan in [call for call in items.calls if call.is_orphan]:
        node = next((node for node in left if _gave(node.operation, orphan)), None)
        if node is None:
            continue
        left.remove(node)
        operation = node.operation
        orphan.is_orphan = False
        orphan.name = operation.tool_name or operation.name
        _give_tool(items, orphan, node)
    if not any(call.is_orphan for call in items.calls):
        items.gaps.discard(GapKind.ORPHAN_RESULT)
    return left


def _gave(operation: Operation, orphan: CallItem) -> bool:
    if orphan.call_id and operation.call_id:
        return orphan.call_id == operation.call_id
    if orphan.name and not _names_fit(orphan.name, operation):
        return False
    if operation.has_result:
        return canonical(operation.result) == canonical(orphan.result)
    return operation.is_error


def _give_tool(items: Items, call: CallItem, node: Node) -> None:
    operation = node.operation
    call.tool = node
    call.span_id = operation.span_id
    call.agent = call.agent or node.agent_name
    call.call_id = call.call_id or operation.call_id
    # A streamed call may be recorded before its arguments have come; one that is repeated without any has none.
    is_begun = call.arguments == {} and not call.is_replayed
    if (call.arguments is None or not call.has_arguments or is_begun) and operation.has_arguments:
        call.arguments, call.has_arguments = operation.arguments, True
    if operation.has_result and (not call.has_result or call.is_joint or call.result in (None, "")):
        call.is_joint = False
        items.give_result(call, operation.result, is_error=False, span_id=operation.span_id, agent=node.agent_name)
    call.is_error = call.is_error or operation.is_error
    if call.has_result:
        call.result_span_id = operation.span_id


def _is_known(items: Items, operation: Operation) -> bool:
    """A second span of a call that has one: the same id, the same arguments at the same time, or a later try."""
    for call in items.calls:
        other = call.tool
        if not isinstance(other, Node):
            continue
        if operation.call_id and call.call_id == operation.call_id:
            return True
        known = other.operation
        overlap = known.start_ns <= operation.start_ns <= known.end_ns or (
            operation.start_ns <= known.start_ns <= operation.end_ns
        )
        if _is_other_try(call, known, operation):
            if operation.start_ns >= known.end_ns and operation.has_result and call.result in _NOTHING:
                items.give_result(call, operation.result, is_error=False, span_id=operation.span_id, agent=call.agent)
            return True
        if (
            overlap
            and known.scope != operation.scope
            and _names_fit(call.name, operation)
            and _arguments_fit(call, operation)
        ):
            return True
    return False


def _is_other_try(call: CallItem, known: Operation, operation: Operation) -> bool:
    """The model asked once; the first try failed, or waited for somebody's approval, and the framework made another."""
    first, then = (known, operation) if known.start_ns <= operation.start_ns else (operation, known)
    is_after = then.start_ns >= first.end_ns and (first.is_error or first.result in _NOTHING)
    return is_after and call.group is not None and _names_fit(call.name, operation) and _arguments_fit(call, operation)


def _same_id(call: CallItem, operation: Operation) -> bool:
    return bool(operation.call_id) and call.call_id == operation.call_id


def _same_name_and_arguments(call: CallItem, operation: Operation) -> bool:
    return _may_pair(call, operation) and _names_fit(call.name, operation) and _arguments_fit(call, operation)


def _same_name(call: CallItem, operation: Operation) -> bool:
    return _may_pair(call, operation) and bool(_name_of(operation)) and _names_fit(call.name, operation)


def _may_pair(call: CallItem, operation: Operation) -> bool:
    return not (call.call_id and operation.call_id and len(call.call_id) == len(operation.call_id))


def _name_of(operation: Operation) -> str:
    """Empty where a tool's span does not say which tool it is: only its arguments tell."""
    return operation.tool_name or operation.name


def _names_fit(name: str, operation: Operation) -> bool:
    other = _name_of(operation)
    return name == other or (bool(name) and (other.endswith(name) or other.startswith(name) or name.endswith(other)))


def _arguments_fit(call: CallItem, operation: Operation) -> bool:
    if not operation.has_arguments or call.arguments is None:
        return False
    one, two = call.arguments, operation.arguments
    if canonical(one) == canonical(two):
        return True
    if isinstance(one, Mapping) and not isinstance(two, Mapping):
        return len(one) == 1 and canonical(next(iter(one.values()))) == canonical(two)
    return not one and not two
