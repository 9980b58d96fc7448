"""Which turn a model call or a tool span belongs to.

A call belongs to the turn whose user message is the last in its input, known by the digest of the list up to there.
Where that is not known, or was not sent, its request, the ids in it, and what it says tell which turn it goes on with;
else it begins one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.assembly.draft import Draft
from collector.assembly.draft_state import DraftState
from collector.assembly.node import Node
from collector.assembly.said import is_cut, same_text
from collector.assembly.same_turn import begins_as_known, call_ids_in, goes_on, holds_words, starts_over
from collector.assembly.sections import Section, asked_in, sections_of, tail_of
from collector.assembly.segments import Segment
from collector.messages.values import squash
from collector.operation import OperationKind, TextPart

_LATEST = 4
"""Turns that an answer which was passed on may sum up."""


def turn_of_call(
    state: DraftState, node: Node, segment: Segment, own: Sequence[Draft], passed_on: Mapping[int, int]
) -> Draft:
    operation = node.operation
    sections = sections_of(operation.input, stop=state.filled)
    current = state.turns[-1] if state.turns else None
    asked = asked_in(operation) if is_cut(operation) else sections
    if is_cut(operation) and (not asked or begins_as_known(asked[-1].user_text, state.turns)):
        return _turn_of_cut(state, segment, own)
    if not sections:
        turn = _turn_without_user(state, node, segment, own)
        return turn if turn is not None else _begin(state, None, b"")
    last = sections[-1]
    passed = turn_passed_on(state, id(node), passed_on)
    if passed is not None:
        state.change(passed).anchors.add(last.anchor)
        state.name(last.anchor, passed)
        return passed
    known = state.by_anchor.get(last.anchor)
    if known is not None and not starts_over(known, last, node):
        return known
    if current is not None and same_text(current.user_text, last.user_text) and goes_on(current, last, node):
        state.name(last.anchor, current)
        return current
    return _begin(state, _new_words(last, state.turns), last.anchor)


def turn_passed_on(state: DraftState, key: int, passed_on: Mapping[int, int]) -> Draft | None:
    """The turn whose answer this one works on; none where that only sums up what was said in earlier turns."""
    giver = passed_on.get(key)
    turn = state.took.get(giver) if giver is not None else None
    if turn is None:
        return None
    others = [known.user_text or "" for known in state.turns[-_LATEST:] if known is not turn]
    is_summary = any(holds_words(turn.user_text, text) for text in others)
    return None if is_summary else turn


def turn_of_tool(tool: Node, turns: Sequence[Draft]) -> Draft | None:
    """Of these: the one that asked for it, else the latest that had begun, in its request if there is any."""
    call_id = tool.operation.call_id
    if call_id:
        found = next((t for t in turns if any(c.call_id == call_id for c in t.items.calls)), None)
        if found is not None:
            return found
    started = [t for t in turns if t.calls and t.calls[0].operation.start_ns <= tool.operation.start_ns]
    same = [t for t in started if tool.operation.trace_id in t.trace_ids]
    return (same or started or list(turns) or [None])[-1]  # type: ignore[list-item]  # None where there is no turn


def _turn_of_cut(state: DraftState, segment: Segment, own: Sequence[Draft]) -> Draft:
    """A call whose latest words were cut away: it goes on with its request, else with what is not answered yet."""
    current = state.turns[-1] if state.turns else None
    is_open = current is not None and not current.has_answer and segment.entry.kind is OperationKind.MODEL_CALL
    if own:
        return own[-1]
    if current is not None and (is_open or segment.trace_id in current.trace_ids):
        return current
    return _begin(state, None, b"")


def _turn_without_user(state: DraftState, node: Node, segment: Segment, own: Sequence[Draft]) -> Draft | None:
    """A call whose input holds no user message: only what is new was sent, or content is off."""
    operation = node.operation
    if own:
        return own[-1]
    previous = operation.previous_response_id
    if previous:
        found = next((turn for turn in reversed(state.turns) if previous in turn.response_ids), None)
        if found is not None:
            return found
    current = state.turns[-1] if state.turns else None
    if current is None:
        return None
    results = [end.message for end in tail_of(operation.input)]
    ids = call_ids_in(results)
    if ids:
        found = next((t for t in reversed(state.turns) if ids & {c.call_id for c in t.items.calls}), None)
        if found is not None:
            return found
    same_request = segment.trace_id in current.trace_ids
    if same_request or (results and any(not call.has_result for call in current.items.calls)):
        return current
    return None


def _begin(state: DraftState, user_text: str | None, anchor: bytes) -> Draft:
    turn = Draft(user_text=user_text)
    if anchor:
        turn.anchors.add(anchor)
        state.name(anchor, turn)
    state.begin(turn)
    return turn


def _new_words(section: Section, turns: Sequence[Draft]) -> str | None:
    """The user's words, without those of an earlier turn that stayed unanswered."""
    texts = ["\n".join(part.text for part in message.parts if isinstance(part, TextPart)) for message in section.users]
    previous = turns[-1].user_text if turns else None
    if len(texts) > 1 and previous is not None and squash(texts[0]) == squash(previous):
        return "\n\n".join(text for text in texts[1:] if text) or None
    return section.user_text
