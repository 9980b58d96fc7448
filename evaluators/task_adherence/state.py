"""What is carried from turn to turn: what the user wants, what the agent owes, what was agreed and found out, and the
faults so far. Places and quotes only, each found in the conversation; none of the judge's own words are shown again.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluators.carrying import MAX_NOTE_CHARS, MAX_NOTES, Note
from evaluators.evidence import Citation, EvidenceError, placed
from evaluators.task_adherence.answer import TaskStepAnswer
from evaluators.verdict import Unit

_SHOWN_FAULTS = 4
_MAX_FAULTS = 64


class Fault(msgspec.Struct, frozen=True):
    dimension: str
    reasoning: str
    """For people; no judge sees it."""
    citations: list[tuple[str, str]]
    """Place and quote each."""


class Noted(msgspec.Struct, frozen=True):
    number: int
    kind: str
    at: str
    quote: str


class TaskState(msgspec.Struct, frozen=True):
    last_number: int
    notes: list[Noted]
    verdicts: dict[str, str]
    """By dimension, the worst so far; for a conversation that is judged as a whole."""
    faults: list[Fault]


def notes_of(state: TaskState) -> Sequence[Note]:
    noted = [Note(note.number, note.kind, Citation(note.at, note.quote)) for note in state.notes]
    faults = [
        Note(state.last_number + number, f"fault found on {fault.dimension}", Citation(*fault.citations[0]))
        for number, fault in enumerate(state.faults[-_SHOWN_FAULTS:], start=1)
    ]
    return noted + faults


def next_state(
    state: TaskState | None, answer: TaskStepAnswer, unit: Unit, *, verdicts: dict[str, str], faults: list[Fault]
) -> TaskState | None:
    """None where a note does not check out, or there are too many: then the whole is read again."""
    number = 0 if state is None else state.last_number
    notes = [] if state is None else [note for note in state.notes if note.number not in answer.settled]
    for note in answer.notes:
        number += 1
        try:
            found = placed(Citation(note.at, note.quote), unit, max_chars=MAX_NOTE_CHARS)
        except EvidenceError:
            return None
        notes.append(Noted(number, note.kind, found.at, found.quote))
    if len(notes) > MAX_NOTES or len(faults) > _MAX_FAULTS:
        return None
    return TaskState(number, notes, verdicts, faults)
