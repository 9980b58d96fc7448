"""What is carried from turn to turn: notes, and how each criterion was answered so far."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluators.carrying import MAX_NOTE_CHARS, Note
from evaluators.evidence import Citation
from evaluators.notebook import Notebook
from evaluators.rubric.model import Answer

_MAX_ANSWERS = 800
_SHOWN_FAULTS = 12
_OPEN: Sequence[Answer] = ("not_applicable", "cannot_assess")


class KeptAnswer(msgspec.Struct, frozen=True):
    criterion: str
    turn: int | None
    answer: Answer
    reasoning: str
    """For people; no judge sees it."""
    evidence: list[tuple[str, str]]
    """Place and quote each."""


class RubricState(msgspec.Struct, frozen=True):
    notebook: Notebook
    answers: list[KeptAnswer]

    @property
    def fits(self) -> bool:
        return len(self.answers) <= _MAX_ANSWERS


def notes_of(state: RubricState) -> Sequence[Note]:
    """What did not hold, with where that shows; for criteria about the whole conversation also what held."""
    faults = [kept for kept in state.answers if kept.answer == "no" and kept.evidence][-_SHOWN_FAULTS:]
    notes = [
        Note(state.notebook.last_number + number, f"no to {kept.criterion}", _first(kept))
        for number, kept in enumerate(faults, start=1)
    ]
    held = sorted({kept.criterion for kept in state.answers if kept.answer == "yes" and kept.turn is None})
    if held:
        notes.append(Note(0, "yes so far", Citation("", ", ".join(held))))
    return [*state.notebook.shown(), *notes]


def over_all(known: Sequence[KeptAnswer], new: Sequence[KeptAnswer]) -> list[KeptAnswer]:
    """Answers about single turns add up. An answer about the whole so far takes the place of the one before, unless
    the new turns say nothing of it.
    """
    before = {kept.criterion: kept for kept in known if kept.turn is None}
    so_far = [
        before[kept.criterion] if kept.turn is None and kept.answer in _OPEN and kept.criterion in before else kept
        for kept in new
    ]
    return [*(kept for kept in known if kept.turn is not None), *so_far]


def _first(kept: KeptAnswer) -> Citation:
    at, quote = kept.evidence[0]
    return Citation(at, quote[:MAX_NOTE_CHARS])
