"""What is carried from turn to turn: the user's intentions, in the user's own words, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluators.carrying import MAX_NOTE_CHARS, MAX_NOTES, Note
from evaluators.evidence import Citation

_SHOWN_MET = 4
_MET_CHARS = 60
_MAX_INTENTIONS = 200


class KeptIntention(msgspec.Struct, frozen=True):
    intention: str
    """The judge's words, for people; no judge sees them."""
    turn: int
    quote: str
    """The user's words."""
    satisfied: str
    reasoning: str
    evidence: list[tuple[str, str]]
    """Place and quote each, where it shows that it was not met."""

    @property
    def stated_at(self) -> str:
        return f"t{self.turn}.user"


class CompletenessState(msgspec.Struct, frozen=True):
    intentions: list[KeptIntention]

    @property
    def fits(self) -> bool:
        is_open = sum(intention.satisfied == "no" for intention in self.intentions)
        return is_open <= MAX_NOTES and len(self.intentions) <= _MAX_INTENTIONS


def notes_of(state: CompletenessState) -> Sequence[Note]:
    """All that are open, and the last that were met: a user who repeats one of those wants nothing new."""
    numbered = list(enumerate(state.intentions, start=1))
    met = [number for number, intention in numbered if intention.satisfied == "yes"][-_SHOWN_MET:]
    return [
        Note(
            number,
            "met" if number in met else "open",
            Citation(intention.stated_at, intention.quote[: _MET_CHARS if number in met else MAX_NOTE_CHARS]),
        )
        for number, intention in numbered
        if number in met or intention.satisfied == "no"
    ]
