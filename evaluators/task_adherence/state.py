"""What is carried from turn to turn: notes, and the faults so far with what each part came to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluators.carrying import Note
from evaluators.evidence import Citation
from evaluators.notebook import Notebook
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


class TaskState(msgspec.Struct, frozen=True):
    notebook: Notebook
    verdicts: dict[str, str]
    """By dimension, the worst so far; for a conversation that is judged as a whole."""
    faults: list[Fault]


def notes_of(state: TaskState) -> Sequence[Note]:
    faults = [
        Note(state.notebook.last_number + number, f"fault found on {fault.dimension}", Citation(*fault.citations[0]))
        for number, fault in enumerate(state.faults[-_SHOWN_FAULTS:], start=1)
    ]
    return [*state.notebook.shown(), *faults]


def next_state(
    state: TaskState | None, answer: TaskStepAnswer, unit: Unit, *, verdicts: dict[str, str], faults: list[Fault]
) -> TaskState | None:
    notebook = (Notebook() if state is None else state.notebook).after(answer.settled, answer.notes, unit)
    if notebook is None or len(faults) > _MAX_FAULTS:
        return None
    return TaskState(notebook, verdicts, faults)
