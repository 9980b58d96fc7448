"""What an evaluator asks of a judge, as one question with one checked answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from evaluators import leak
from evaluators.carrying import Carrying
from evaluators.evaluator import Judgement
from evaluators.facts import Fact, Facts, facts_text
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.frame import frame_text
from evaluators.judge.question import Question
from evaluators.judge.schema import strict_schema
from evaluators.transcript.record import Record, end_line
from evaluators.verdict import Unit

A = TypeVar("A", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Asking(Generic[A]):
    """What an evaluator asks, and how it concludes."""

    evaluator: str
    """The evaluator's kind; it names the schema and opens the question."""
    answer_type: type[A]
    question: Callable[[Unit, Record], str]
    conclude: Callable[[A, Unit, Record], Judgement]
    """Raises `UnusableAnswerError` for an answer that contradicts itself, or cites what is not there."""
    repeatable: str = ""
    """What stands in the question and may stand in the answer, such as a configured role."""
    carrying: Carrying[Any, Any] | None = None
    """How it judges turn by turn; None: it reads the whole conversation each time."""
    facts: Facts | None = None
    """What code knows of a unit and the judge is told."""
    schema: Mapping[str, object] = field(init=False)
    carrying_schema: Mapping[str, object] = field(init=False)

    def __post_init__(self) -> None:
        # Once; it takes longer than a verdict.
        object.__setattr__(self, "schema", strict_schema(self.answer_type))
        carrying = strict_schema(self.carrying.answer_type) if self.carrying is not None else {}
        object.__setattr__(self, "carrying_schema", carrying)


def question_of(asking: Asking[A], unit: Unit, record: Record, *, facts: Sequence[Fact] = ()) -> Question:
    told = facts_text(facts, mark=record.mark, first_turn=record.first_turn, turns=len(unit.conversation.turns))
    return make_question(asking, record, asking.question(unit, record), schema=asking.schema, notes=told)


def make_question(
    asking: Asking[A], record: Record, text: str, *, schema: Mapping[str, object], notes: str = ""
) -> Question:
    """`notes` are lines of the record that are an evaluator's own, so they stand behind what all of them share."""
    return Question(
        name=asking.evaluator,
        frame=frame_text(record.mark),
        record=record.text,
        text=f"{notes}{end_line(record.mark)}\n\nQuestion ({asking.evaluator}): {text}",
        schema=schema,
    )


def without_leaks(judgement: Judgement, question: Question, *, known: str, mark: str) -> Judgement:
    """Without what the judge repeats of its instructions on its way; raises `UnusableAnswerError` for a recital."""
    texts = [judgement.reason, *_strings(judgement.details)]
    notes, _, told = question.text.partition(end_line(mark))
    instructions = f"{question.frame}\n{told}"
    known = f"{question.record}\n{notes}\n{known}"
    if leak.recites(texts, instructions=instructions, known=known):
        raise UnusableAnswerError("It repeated your instructions.")
    if not leak.leaks(texts, mark=mark, instructions=instructions, known=known):
        return judgement
    keep = partial(leak.without_leaks, mark=mark, instructions=instructions, known=known)
    details = {key: _mapped(value, keep) for key, value in judgement.details.items()}
    return replace(judgement, reason=keep(judgement.reason), details=details)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value
