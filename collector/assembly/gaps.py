"""What a turn should hold and does not: named here, in one place, and never filled in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.assembly.draft import Draft
from collector.assembly.handoffs import is_handoff
from collector.assembly.node import Node
from collector.assembly.told_turn import Told
from collector.messages.fold import says_anything
from collector.model import GapKind, Step, ToolCallStep, ToolResultStep

_FROM_OPERATIONS = frozenset({
    GapKind.ATTRIBUTES_DROPPED,
    GapKind.UNDECODABLE,
    GapKind.CONTENT_ELSEWHERE,
    GapKind.HISTORY_COMPACTED,
    GapKind.TRUNCATED,
    GapKind.REDACTED,
})  # fmt: skip


def gaps_of(draft: Draft, told: Told, nodes: Iterable[Node], *, is_error: bool) -> tuple[GapKind, ...]:
    found = {*draft.gaps, *draft.items.gaps}
    silent = [
        n for segment in draft.segments for n in segment.calls if not n.operation.input and not n.operation.output
    ]
    for node in (*draft.calls, *draft.tools, *silent):
        found.update(gap for gap in node.operation.gaps if gap in _FROM_OPERATIONS)
    if draft.is_unseen:
        found.add(GapKind.HISTORY_UNSEEN)
    if any(node.parent_is_missing for node in nodes):
        found.add(GapKind.SPANS_MISSING)
    if _is_content_off(draft, told):
        found.add(GapKind.CONTENT_OFF)
    else:
        if not draft.user_text:
            found.add(GapKind.USER_INPUT_MISSING)
        if told.output is None and not is_error:
            found.add(GapKind.OUTPUT_MISSING)
    found.update(_tool_gaps(told.steps))
    if any(call.is_joint for call in draft.items.calls):
        found.add(GapKind.TOOL_RESULT_MISSING)  # which part of what came back is whose nobody says
    return tuple(sorted(found))


def _is_content_off(draft: Draft, told: Told) -> bool:
    if draft.user_text or told.output or draft.answer:
        return False
    if GapKind.UNDECODABLE in draft.gaps or GapKind.CONTENT_ELSEWHERE in draft.gaps:
        return False
    messages = [message for node in draft.calls for message in (*(node.operation.input or ()), *node.operation.output)]
    texts = [part for message in messages for part in message.parts if getattr(part, "text", None)]
    return bool(draft.calls or draft.segments) and not texts and (not messages or _is_hollow(draft))


def _is_hollow(draft: Draft) -> bool:
    """Messages are there, as many as were sent, but what was said in them is not."""
    return any(not says_anything([message]) for node in draft.calls for message in (*(node.operation.input or ()),))


def _tool_gaps(steps: Sequence[Step]) -> set[GapKind]:
    found: set[GapKind] = set()
    calls = [step for step in steps if isinstance(step, ToolCallStep)]
    results = [step for step in steps if isinstance(step, ToolResultStep)]
    for call in calls:
        if call.arguments is None:
            found.add(GapKind.TOOL_ARGUMENTS_MISSING)
    expected = sum(not is_handoff(call.name) for call in calls)
    orphans = sum(not _has_call(result, calls) for result in results)
    if expected > sum(not is_handoff(result.name or "") for result in results) - orphans:
        found.add(GapKind.TOOL_RESULT_MISSING)
    return found


def _has_call(result: ToolResultStep, calls: Sequence[ToolCallStep]) -> bool:
    return any(result.call_id == call.call_id and result.name == call.name for call in calls) or any(
        result.call_id is None and result.name == call.name for call in calls
    )
