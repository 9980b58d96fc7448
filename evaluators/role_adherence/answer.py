"""The form of the judge's answer: every turn is looked at, and what it cites stands before what it decides."""

from __future__ import annotations

from typing import Literal

import msgspec

DeviationKind = Literal["persona", "tone", "domain", "policy", "inability", "identity", "language", "drift"]


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: DeviationKind
    at: str
    quote: str


class TurnCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    turn: int
    reasoning: str
    deviations: list[Deviation]
    adherent: Literal["yes", "no"]


class RoleAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    role: str
    role_source: Literal["given", "system_prompt", "user", "none"]
    turns: list[TurnCheck]
    summary: str
