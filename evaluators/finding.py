"""What one deterministic rule or check found in a unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from evaluators.verdict import Evidence


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    FLAGGED = "flagged"
    """Worth knowing, and no failure: it may be the telemetry's."""
    NOT_APPLICABLE = "not_applicable"
    """Nothing in the unit is what it is about."""
    NOT_ASSESSABLE = "not_assessable"
    """The telemetry does not hold what it needs to know. That is never a failure."""


@dataclass(frozen=True, slots=True)
class Finding:
    status: Status
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    count: int = 0
    """How often it was broken; the evidence may show fewer."""


class Witness(Protocol):
    """A call or a result: its words are written down only when they are shown."""

    def evidence(self) -> Evidence: ...


@dataclass(frozen=True, slots=True)
class Breach:
    """One place where it was broken."""

    reason: str
    evidence: tuple[Evidence | Witness, ...]


_MAX_SHOWN = 5


def concluded(*, breaches: Sequence[Breach], seen: int, unknown: Sequence[str]) -> Finding:
    """From the breaches, the number of places that were looked at, and why some of them could not be."""
    if breaches:
        return _told(Status.FAIL, breaches)
    if unknown:
        return Finding(Status.NOT_ASSESSABLE, " ".join(dict.fromkeys(unknown)))
    return Finding(Status.PASS if seen else Status.NOT_APPLICABLE)


def flagged(*, places: Sequence[Breach], seen: int) -> Finding:
    """Where something is worth knowing that nobody is to be failed for."""
    if places:
        return _told(Status.FLAGGED, places)
    return Finding(Status.PASS if seen else Status.NOT_APPLICABLE)


def _told(status: Status, breaches: Sequence[Breach]) -> Finding:
    shown = breaches[:_MAX_SHOWN]
    more = f" ({len(breaches) - len(shown)} more.)" if len(breaches) > len(shown) else ""
    return Finding(
        status,
        " ".join(breach.reason for breach in shown) + more,
        tuple(dict.fromkeys(_written(piece) for breach in shown for piece in breach.evidence)),
        len(breaches),
    )


def _written(piece: Evidence | Witness) -> Evidence:
    return piece if isinstance(piece, Evidence) else piece.evidence()
