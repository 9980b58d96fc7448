"""What a model call adds to its turn: from its input what is the turn's own, and its output."""

from __future__ import annotations

from collections.abc import Sequence

from collector.assembly.absorb_messages import Source, absorb_input, absorb_output
from collector.assembly.draft import Draft
from collector.assembly.draft_state import DraftState
from collector.assembly.earlier_turns import fill_earlier
from collector.assembly.node import Node
from collector.assembly.said import contains, has_calls, is_compaction, is_cut, same_text
from collector.assembly.sections import Section, has_human, sections_of, tail_of
from collector.messages.fold import says_anything
from collector.model import GapKind
from collector.operation import Chain, Role


def absorb_call(state: DraftState, turn: Draft, node: Node) -> None:
    operation = node.operation
    state.take(id(node), turn)
    state.change(turn).calls.append(node)
    turn.gaps.update(operation.gaps)
    ends = _own_part(state, turn, node)
    is_delta = operation.input_is_delta or not has_human(operation.input)
    known = 0 if is_delta else next((i for i in range(len(ends), 0, -1) if ends[i - 1].digest in turn.absorbed), 0)
    turn.absorbed.update(end.digest for end in ends[known:])
    new = [end.message for end in ends[known:]]
    asked = Source(operation.start_ns, operation.span_id, node.agent_name)
    absorb_input(turn.items, new, asked, is_delta=is_delta, goes_on=known > 0)
    if any(is_compaction(message) for message in new):
        turn.gaps.add(GapKind.HISTORY_COMPACTED)
    absorb_output(turn.items, operation.output, Source(operation.end_ns, operation.span_id, node.agent_name))
    asks = any(has_calls(message) for message in operation.output)
    turn.has_answer = turn.has_answer or (says_anything(operation.output) and not asks)


def _own_part(state: DraftState, turn: Draft, node: Node) -> list[Chain]:
    """The messages of the call's input that belong to this turn; what comes before fills earlier turns."""
    chain = node.operation.input
    if is_cut(node.operation):
        turn.gaps.add(GapKind.TRUNCATED)
    sections = sections_of(chain, stop=state.filled)
    if not sections:
        return tail_of(chain)
    position = _position(turn, sections)
    if position is None:
        return [] if is_cut(node.operation) else sections[-1].nodes
    current = sections[position]
    turn.anchors.add(current.anchor)
    turn.gaps.update(gap for message in current.users for gap in message.gaps)
    state.name_if_new(current.anchor, turn)
    fill_earlier(state, turn, sections[:position], node)
    state.fill(current.anchor)
    found = [end for section in sections[position:] for end in section.nodes]
    is_piece = is_cut(node.operation) and bool(found) and found[-1].message.role is Role.ASSISTANT
    return found[:-1] if is_piece else found


def _position(turn: Draft, sections: Sequence[Section]) -> int | None:
    for position in range(len(sections) - 1, -1, -1):
        if sections[position].anchor in turn.anchors:
            return position
    for position in range(len(sections) - 1, -1, -1):
        text = sections[position].user_text
        if same_text(text, turn.user_text) or contains(text, turn.user_text):
            return position
    return None
