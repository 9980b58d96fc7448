"""What two instrumentations say about one call, folded into one node; the other one is marked a duplicate.

That is a model call directly under a model call, a tool directly under a tool of the same name (client and server of
MCP), and model calls anywhere that have the same response id, or the same messages under another scope, while they
overlap in time. A model call with several model calls under it is no call but a loop, hence an agent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from collector.assembly.node import AGENT_LIKE, Node
from collector.messages.digests import extend
from collector.messages.fold import fold, says_anything
from collector.operation import Operation, OperationKind

_TWIN_KINDS = frozenset({OperationKind.MODEL_CALL, OperationKind.TOOL})


def fold_duplicates(nodes: Sequence[Node]) -> list[object]:
    """Of nodes in order of time, whose trees are made. Gives what calls were compared by."""
    _fold_nested(nodes)
    return [*_fold_twins(nodes), *_fold_parallel(nodes)]


def _fold_nested(nodes: Sequence[Node]) -> None:
    calls_below: dict[Node, list[Node]] = defaultdict(list)
    for node in nodes:
        above = node.meaningful_parent
        if above is None or node.is_internal:
            continue
        if node.kind is OperationKind.MODEL_CALL is above.kind:
            calls_below[above].append(node)
        elif node.kind is OperationKind.TOOL is above.kind and _same_tool(node.operation, above.operation):
            _absorb(above, node)
    for above, below in calls_below.items():
        answered = [node for node in below if not node.operation.is_error]
        others = [node for node in answered if not _same_response(node.operation, above.operation)]
        if len(answered) > 1 and len(others) > 1:
            above.operation = replace(above.operation, kind=OperationKind.AGENT)
            continue
        for node in below:
            _absorb(above, node)


def _fold_twins(nodes: Sequence[Node]) -> Collection[object]:
    """One request that two instrumentations traced side by side: agents that made the same call, and its tools.

    What calls were compared by.
    """
    seen: dict[tuple[str | None, str], list[Node]] = defaultdict(list)
    for node in nodes:
        operation = node.operation
        identity = operation.response_id if node.kind is OperationKind.MODEL_CALL else operation.call_id
        if not identity or node.kind not in _TWIN_KINDS or node.is_duplicate:
            continue
        twins = seen[(operation.service, identity)]
        _drop_ended(twins, node)
        for twin in twins:
            if node.kind is twin.kind and node.operation.scope != twin.operation.scope and _overlap(node, twin):
                _fold_agents_of(node, twin)
                if node.kind is OperationKind.TOOL and _same_tool(node.operation, twin.operation):
                    _absorb(twin, node)
                break
        if not node.is_duplicate:
            twins.append(node)
    return seen.keys()


def _fold_agents_of(node: Node, twin: Node) -> None:
    """The outermost agents around the one call that are not around the other."""
    one = [above for above in node.ancestors() if above.kind in AGENT_LIKE and not above.is_duplicate][::-1]
    two = [above for above in twin.ancestors() if above.kind in AGENT_LIKE and not above.is_duplicate][::-1]
    while one and two and one[0] is two[0]:
        del one[0], two[0]
    if one and two and one[0].operation.scope != two[0].operation.scope and _overlap(one[0], two[0]):
        keeper, copy = sorted((one[0], two[0]), key=lambda above: (not _says_more(above), above.order))
        _absorb(keeper, copy)


def _says_more(node: Node) -> bool:
    return node.operation.input is not None and says_anything(node.operation.output)


def _overlap(one: Node, two: Node) -> bool:
    first, second = one.operation, two.operation
    return first.start_ns <= second.end_ns and second.start_ns <= first.end_ns


def _fold_parallel(nodes: Sequence[Node]) -> Collection[object]:
    """What calls were compared by."""
    by_response: dict[tuple[str | None, str], list[Node]] = defaultdict(list)
    by_content: dict[tuple[str | None, bytes], list[Node]] = defaultdict(list)
    by_answer: dict[tuple[object, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        operation = node.operation
        if node.is_duplicate or operation.kind is not OperationKind.MODEL_CALL:
            continue
        if operation.response_id:
            _fold_into(by_response[(operation.service, operation.response_id)], node, other_scope=False)
        if not node.is_duplicate and operation.input is not None and says_anything(operation.output):
            whole = extend(operation.input, operation.output)
            if whole is not None:
                _fold_into(by_content[(operation.service, whole.digest)], node, other_scope=True)
            if not node.is_duplicate and operation.parent_span_id:
                # Side by side, with the same answer: each may tell the history in messages of its own.
                place = (operation.service, operation.trace_id, operation.parent_span_id)
                answer = tuple(message.digest for message in operation.output)
                _fold_into(by_answer[(*place, *answer)], node, other_scope=True, same_model=True)
    return [*by_response, *by_content, *by_answer]


def _drop_ended(known: list[Node], node: Node) -> None:
    """Nodes come in order of time: what ended before this one began overlaps with no later one either."""
    start_ns = node.operation.start_ns
    if known and known[0].operation.end_ns < start_ns:
        known[:] = [other for other in known if other.operation.end_ns >= start_ns]


def _fold_into(known: list[Node], node: Node, *, other_scope: bool, same_model: bool = False) -> None:
    _drop_ended(known, node)
    for other in known:
        one, two = other.operation, node.operation
        overlaps = _overlap(other, node)
        scopes = {one.scope, *(duplicate.operation.scope for duplicate in other.duplicates)}
        if not overlaps or (other_scope and two.scope in scopes):
            continue
        if same_model and not _may_be_one_model(one.model, two.model):
            continue
        if other_scope and one.response_id and two.response_id and one.response_id != two.response_id:
            continue
        keeper, copy = (node, other) if _standing(node) > _standing(other) else (other, node)
        _absorb(keeper, copy)
        if keeper is node:
            known[known.index(other)] = node
        return
    known.append(node)


def _may_be_one_model(one: str | None, two: str | None) -> bool:
    """The one that was asked for, and the version of it that answered."""
    return not one or not two or one.startswith(two) or two.startswith(one)


def _standing(node: Node) -> tuple[bool, bool, bool]:
    """Which of two spans of one call is kept: the one inside an agent, with an id, with content."""
    inside = node.meaningful_parent is not None
    return (inside, node.operation.conversation_id is not None, says_anything(node.operation.output))


def _absorb(keeper: Node, copy: Node) -> None:
    own = keeper.operation
    copied = fold([own, replace(copy.operation, kind=own.kind)])
    if copied is None:
        return
    keeper.operation = replace(
        copied,
        name=own.name,
        service=own.service,
        scope=own.scope,
        is_error=own.is_error,
        error=own.error,
        is_internal=own.is_internal,
        agent=own.agent or copied.agent,
        usage=own.usage or copied.usage,
    )
    copy.is_duplicate = True
    keeper.duplicates += [copy, *copy.duplicates]
    if not copy.is_below(keeper) and not keeper.is_below(copy):
        keeper.adopt(copy.children)
        keeper.children = sorted([*keeper.children, *copy.children], key=lambda node: node.order)
        copy.children = []


def _same_tool(one: Operation, two: Operation) -> bool:
    if one.call_id and two.call_id:
        return one.call_id == two.call_id
    first, second = one.tool_name or one.name, two.tool_name or two.name
    if not first or not second:
        return False
    return first == second or first.endswith(second) or second.endswith(first)


def _same_response(one: Operation, two: Operation) -> bool:
    if one.response_id and two.response_id:
        return one.response_id == two.response_id
    return bool(one.output) and [m.digest for m in one.output] == [m.digest for m in two.output]
