"""A rubric: criteria, each of which holds or does not, and how a score is made of them.

Its text may come from people or from a compiler that read an agent's system prompt. Either way it is shown to a judge
as quoted content, and its version is a hash of all that could change an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evaluators.content import digest_of
from evaluators.verdict import UnitKind

Answer: TypeAlias = Literal["yes", "no", "not_applicable", "cannot_assess"]
Combine: TypeAlias = Literal["all", "mean", "min"]
"""`all`: the score is 1 if every criterion that applies holds, else 0. `mean`: the weighted share of those that hold.
`min`: the share of the criterion that held least often.
"""
CriterionKind: TypeAlias = Literal["duty", "prohibition", "role_fact"]

MAX_CRITERIA = 40
MAX_TEXT_CHARS = 1000
DEFAULT_THRESHOLDS: Mapping[Combine, float] = {"all": 1.0, "mean": 0.5, "min": 0.5}


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    answer: Answer
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    ask: str
    """A statement that holds or does not."""
    applies: str | None = None
    """When it is asked at all; otherwise it is not applicable."""
    weight: float = 1.0
    required: bool = False
    """When it does not hold, the score is 0 whatever else holds."""
    examples: tuple[Example, ...] = ()
    kind: CriterionKind | None = None
    source: str | None = None
    """The words of the system prompt or of a tool's definition that it was compiled from."""


@dataclass(frozen=True, slots=True)
class Rubric:
    name: str | None
    criteria: tuple[Criterion, ...]
    about: str | None = None
    on: UnitKind | None = None
    each_turn: bool = False
    """Each criterion is asked about every turn of the agent, and counts by the share of turns in which it holds."""
    needs_calls: bool = False
    """Where the agent called no tool there is nothing to judge, and no judge is asked."""
    combine: Combine = "all"
    threshold: float = 1.0
    rating: bool = False
    """Also give the score as a whole number from 1 to 5."""
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists that the criteria speak of, by their headings."""

    @property
    def text(self) -> str:
        """All words of it, which a judge may repeat."""
        parts = [self.about or ""]
        for criterion in self.criteria:
            parts += [criterion.name, criterion.ask, criterion.applies or ""]
            parts += [f"{example.text}\n{example.why or ''}" for example in criterion.examples]
        for heading, items in self.given.items():
            parts += [heading, *items]
        return "\n".join(parts)

    @property
    def version(self) -> str:
        """12 hex digits. Name, kinds and sources are left out: no answer depends on them."""
        criteria = [
            [
                criterion.name,
                criterion.ask,
                criterion.applies,
                criterion.weight,
                criterion.required,
                [[example.text, example.answer, example.why] for example in criterion.examples],
            ]
            for criterion in self.criteria
        ]
        settings = [self.each_turn, self.needs_calls, self.combine, self.threshold, self.rating]
        return digest_of([self.about, criteria, settings, {key: list(value) for key, value in self.given.items()}])[:12]
