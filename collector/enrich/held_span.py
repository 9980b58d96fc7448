"""A span that waits for its scores, and the turn that it may be the target of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from collector.enrich.cutting import AttributeValue


class State(IntEnum):
    UNSURE = 0
    """Waits a moment for what is around it."""
    HELD = 1
    """Waits for the scores of its turn."""
    LEAVING = 2
    """On its way: what is sent of it changes no more."""


@dataclass(slots=True)
class HeldSpan:
    seq: int
    trace: str
    span: str
    state: State
    received_ns: int
    until_ns: int
    reason: str
    """Why it goes without scores, should it go without."""
    shape: bytes
    unit: str | None
    conversation: str | None
    attributes: Mapping[str, AttributeValue]
    size: int


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """A turn that was handed to the judging side."""

    trace: str
    span: str
    unit: str
    conversation: str
