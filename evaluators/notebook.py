"""Notes that a judge makes for later turns: what the user wants, what the agent owes, what was agreed and found out.

A note is a word of ours, a place, and words that stand there; none of the judge's own words are shown again. One that
does not check out, or too many, make the whole notebook none: then the conversation is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from evaluators.carrying import MAX_NOTE_CHARS, MAX_NOTES, Note
from evaluators.evidence import Citation, EvidenceError, placed
from evaluators.verdict import Unit

KEEP = """
settled: {settled}
notes for later turns, at most {count}, each kind, at, quote (4 to 150 characters): request, limit of the user that \
still hold; offer, promise of the agent that are open; consent of the user; outcome that later acts depend on."""


class KeptNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As a judge gives it."""

    kind: Literal["request", "limit", "offer", "promise", "consent", "outcome"]
    at: str
    quote: str


class Noted(msgspec.Struct, frozen=True):
    number: int
    kind: str
    at: str
    quote: str


class Notebook(msgspec.Struct, frozen=True):
    last_number: int = 0
    notes: list[Noted] = []

    def shown(self) -> list[Note]:
        return [Note(note.number, note.kind, Citation(note.at, note.quote)) for note in self.notes]

    def after(self, settled: Sequence[int], new: Sequence[KeptNote], unit: Unit) -> Notebook | None:
        number = self.last_number
        notes = [note for note in self.notes if note.number not in settled]
        for note in new:
            number += 1
            try:
                found = placed(Citation(note.at, note.quote), unit, max_chars=MAX_NOTE_CHARS)
            except EvidenceError:
                return None
            notes.append(Noted(number, note.kind, found.at, found.quote))
        return Notebook(number, notes) if len(notes) <= MAX_NOTES else None


def keeping(*, first_turn: int) -> str:
    """What is asked about notes; `first_turn` is the first turn that is new, 0 where the whole is shown."""
    if not first_turn:
        return KEEP.format(settled="empty.", count=12)
    return KEEP.format(settled="numbers of notes done with.", count=4)
