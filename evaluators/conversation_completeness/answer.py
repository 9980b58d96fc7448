"""The form of the judge's answer: each intention with the user's words, what became of it, then whether it was met."""

from __future__ import annotations

from typing import Literal

import msgspec


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: str
    quote: str


class Intention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    intention: str
    turn: int
    quote: str
    reasoning: str
    evidence: list[Citation]
    satisfied: Literal["yes", "no", "void"]


class CompletenessAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    intentions: list[Intention]
    summary: str
