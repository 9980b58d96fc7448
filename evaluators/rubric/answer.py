"""The form of the judge's answer: made for each rubric, so that only its own criteria can be answered.

Reasoning and what is cited stand before what is decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from evaluators.evidence import Citation
from evaluators.notebook import KeptNote
from evaluators.rubric.model import Answer, Rubric


class CriterionAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What every entry holds; the rubric's own form narrows `criterion`, and may have `turn`."""

    criterion: str
    reasoning: str
    evidence: list[Citation]
    answer: Answer


class RubricAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    answers: Sequence[CriterionAnswer]
    summary: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One entry that is to be answered."""

    criterion: str
    turn: int | None = None

    def __str__(self) -> str:
        return self.criterion if self.turn is None else f"{self.criterion} in turn {self.turn}"


def asked_of(entry: CriterionAnswer) -> Asked:
    return Asked(entry.criterion, getattr(entry, "turn", None))


class RubricStepAnswer(RubricAnswer, frozen=True, forbid_unknown_fields=True):
    """With what is carried on."""

    settled: list[int]
    notes: list[KeptNote]


def step_answer_type_of(rubric: Rubric) -> type[RubricStepAnswer]:
    base: type[msgspec.Struct] = answer_type_of(rubric)
    kept = [("settled", list[int]), ("notes", list[KeptNote])]
    whole = msgspec.defstruct("RubricStepAnswer", kept, bases=(base,), frozen=True, forbid_unknown_fields=True)
    return cast("type[RubricStepAnswer]", whole)


def answer_type_of(rubric: Rubric) -> type[RubricAnswer]:
    names = Literal[tuple(criterion.name for criterion in rubric.criteria)]  # type: ignore[valid-type]  # Closed per rubric.
    where: list[tuple[str, Any]] = [("turn", int)] if rubric.each_turn else []
    fields = [*where, ("criterion", names), ("reasoning", str), ("evidence", list[Citation]), ("answer", Answer)]
    entry = msgspec.defstruct("Entry", fields, frozen=True, forbid_unknown_fields=True)
    whole = msgspec.defstruct(
        "RubricAnswer",
        [("injection_suspected", bool), ("answers", list[entry]), ("summary", str)],  # type: ignore[valid-type]  # Made above.
        frozen=True,
        forbid_unknown_fields=True,
    )
    return cast("type[RubricAnswer]", whole)  # The same fields, one of them narrowed.
