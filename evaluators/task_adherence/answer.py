"""The form of the judge's answer: what it thought and what it cites stand before what it decides."""

from __future__ import annotations

from typing import Literal

import msgspec

from evaluators.evidence import Citation
from evaluators.notebook import KeptNote

Verdict = Literal["pass", "fail", "not_applicable"]


class Dimension(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reasoning: str
    evidence: list[Citation]
    verdict: Verdict


class TaskAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    goal: Dimension
    rule: Dimension
    procedure: Dimension
    summary: str

    @property
    def dimensions(self) -> dict[str, Dimension]:
        return {"goal": self.goal, "rule": self.rule, "procedure": self.procedure}


class TaskStepAnswer(TaskAnswer, frozen=True, forbid_unknown_fields=True):
    """With what is carried on."""

    settled: list[int]
    """Numbers of notes that no later turn needs."""
    notes: list[KeptNote]
