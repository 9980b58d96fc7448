"""The form of the judge's answer: what it thought and what it cites stand before what it decides."""

from __future__ import annotations

from typing import Literal

import msgspec


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: str
    quote: str


class Dimension(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reasoning: str
    evidence: list[Citation]
    verdict: Literal["pass", "fail", "not_applicable"]


class TaskAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    injection_suspected: bool
    goal: Dimension
    rule: Dimension
    procedure: Dimension
    summary: str
