"""What a call's replay of earlier turns says of them: it fills what they lack, and tells of turns that no span does."""

from __future__ import annotations

from collections.abc import Sequence

from collector.assembly.absorb_messages import Source, absorb_input
from collector.assembly.draft import Draft
from collector.assembly.draft_state import DraftState
from collector.assembly.node import Node
from collector.assembly.said import contains, has_calls
from collector.assembly.same_turn import is_replay_of
from collector.assembly.sections import Section
from collector.messages.streamed import in_whole
from collector.model import GapKind
from collector.operation import Role, TextPart


def fill_earlier(state: DraftState, turn: Draft, sections: Sequence[Section], node: Node) -> None:
    """Walk the replayed turns back, each beside the turn that it repeats."""
    at = state.turns.index(turn)
    unseen: list[Section] = []
    for section in reversed(sections):
        known = state.by_anchor.get(section.anchor)
        match = at
        if known is not None and known in state.turns[:at]:
            match = state.turns.index(known)
        else:
            match = next((i for i in range(at - 1, -1, -1) if is_replay_of(section, state.turns[i])), at)
        if match == at:
            unseen.append(section)
            continue
        at = _insert_unseen(state, unseen, match + 1, node, match)
        unseen = []
        _fill(state, state.turns[match], section, node, turn)
    if at == 0:
        _insert_unseen(state, unseen, 0, node, 0)
    elif unseen:
        turn.gaps.add(GapKind.HISTORY_EDITED)  # turns are known, and the replay tells of others


def _insert_unseen(state: DraftState, sections: Sequence[Section], place: int, node: Node, result: int) -> int:
    for section in sections:  # latest first, so each goes before the one before it
        turn = Draft(user_text=section.user_text, is_unseen=True, seen_by=node)
        turn.anchors.add(section.anchor)
        state.name(section.anchor, turn)
        _replay(turn, section, node, fill_only=False)
        state.begin(turn, place=place)
    return result


def _fill(state: DraftState, turn: Draft, section: Section, node: Node, current: Draft) -> None:
    state.change(turn)
    if turn.calls and not turn.is_unseen:
        told = [item.text for item in turn.items.texts if not item.asks]
        told = told or [turn.answer or ""]
        replayed = [m for m in in_whole(section.messages) if m.role is Role.ASSISTANT]
        said = "\n".join(p.text for m in replayed[-1:] for p in m.parts if isinstance(p, TextPart))
        if said and all(told) and not any(contains(said, text) or contains(text, said) for text in told):
            current.gaps.add(GapKind.HISTORY_EDITED)
    state.name_if_new(section.anchor, turn)
    turn.anchors.add(section.anchor)
    _replay(turn, section, node, fill_only=True)


def _replay(turn: Draft, section: Section, node: Node, *, fill_only: bool) -> None:
    source = Source(node.operation.start_ns, node.operation.span_id, agent=None)
    absorb_input(turn.items, section.messages, source, fill_only=fill_only)
    said = [m for m in in_whole(section.messages) if m.role is Role.ASSISTANT]
    if not said or has_calls(said[-1]):
        return
    turn.kept = "\n".join(p.text for p in said[-1].parts if isinstance(p, TextPart)) or None
    if turn.answer is None and not turn.has_answer:
        turn.answer = turn.kept
