"""What is carried from turn to turn: the role in force, which turns adhered, and the deviations of the others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluators.carrying import MAX_NOTE_CHARS, Note
from evaluators.evidence import Citation

_SHOWN_DEVIATIONS = 3
_MAX_DEVIATING = 64
_MAX_ADHERENT = 4000


class KeptDeviation(msgspec.Struct, frozen=True):
    kind: str
    at: str
    quote: str


class Checked(msgspec.Struct, frozen=True):
    """A turn that deviates."""

    turn: int
    reasoning: str
    """For people; no judge sees it."""
    deviations: list[KeptDeviation]


class RoleState(msgspec.Struct, frozen=True):
    role: str
    role_source: str
    adherent: list[int]
    deviating: list[Checked]

    @property
    def fits(self) -> bool:
        return len(self.adherent) <= _MAX_ADHERENT and len(self.deviating) <= _MAX_DEVIATING


def notes_of(state: RoleState) -> Sequence[Note]:
    """The role's words are an earlier judge's: bounded, quoted like content, shown only where nothing else says it."""
    found = [deviation for checked in state.deviating for deviation in checked.deviations]
    notes = [
        Note(number, f"deviation found, {item.kind}", Citation(item.at, item.quote[:MAX_NOTE_CHARS]))
        for number, item in enumerate(found[-_SHOWN_DEVIATIONS:], start=1)
    ]
    return [Note(0, "role in force", Citation("", state.role)), *notes] if state.role_source == "user" else notes
