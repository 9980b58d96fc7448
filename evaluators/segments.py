"""Cuts a conversation that is too long for one look into stretches of turns, each judged with what the last one left.

Cutting long contents in their middle comes first, in `transcript.view`; this is for what would lose its messages then.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.model import Conversation
from evaluators.transcript.record import escaped_places
from evaluators.transcript.view import mildly_shortened

MAX_SEGMENTS = 8
"""Questions for one verdict, at most; over it each stretch is shortened further."""


def segment_ends(conversation: Conversation, *, first: int, max_tokens: int) -> list[int]:
    """For each stretch, how many turns there are up to its end; the last one is all of them."""
    turns = len(conversation.turns)
    costs = [0] * turns
    base = 0
    for item in mildly_shortened(escaped_places(conversation, first_turn=first)):
        if item.place.turn is None:
            base += item.tokens
        else:
            costs[item.place.turn] += item.tokens
    room = max(max_tokens - base, max_tokens // 2, sum(costs) // MAX_SEGMENTS + max(costs[first:], default=0))
    return [*_ends(costs, first=first, room=room), turns]


def _ends(costs: list[int], *, first: int, room: int) -> Iterator[int]:
    held = 0
    for turn in range(first, len(costs)):
        if held and held + costs[turn] > room:
            yield turn
            held = 0
        held += costs[turn]
