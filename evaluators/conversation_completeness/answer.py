"""The form of the judge's answer: each intention with the user's words, what became of it, then whether it was met."""

from __future__ import annotations

from typing import Literal

import msgspec

from evaluators.evidence import Citation

Satisfied = Literal["yes", "no", "void"]


class Intention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    intention: str
    turn: int
    quote: str
    reasoning: str
    evidence: list[Citation]
    satisfied: Satisfied


class CompletenessAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    intentions: list[Intention]
    summary: str


class Update(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What new turns change about an intention of earlier ones."""

    note: int
    reasoning: str
    evidence: list[Citation]
    satisfied: Satisfied


class CompletenessStepAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    updates: list[Update]
    intentions: list[Intention]
    summary: str
