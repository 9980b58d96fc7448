"""What one deterministic rule or check found in a unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluators.verdict import Evidence


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
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


@dataclass(frozen=True, slots=True)
class Breach:
    """One place where it was broken."""

    reason: str
    evidence: tuple[Evidence, ...]


_MAX_SHOWN = 5


def concluded(*, breaches: Sequence[Breach], seen: int, unknown: Sequence[str]) -> Finding:
    """From the breaches, the number of places that were looked at, and why some of them could not be."""
    if breaches:
        shown = breaches[:_MAX_SHOWN]
        more = f" ({len(breaches) - len(shown)} more.)" if len(breaches) > len(shown) else ""
        return Finding(
            Status.FAIL,
            " ".join(breach.reason for breach in shown) + more,
            tuple(dict.fromkeys(piece for breach in shown for piece in breach.evidence)),
            len(breaches),
        )
    if unknown:
        return Finding(Status.NOT_ASSESSABLE, " ".join(dict.fromkeys(unknown)))
    return Finding(Status.PASS if seen else Status.NOT_APPLICABLE)
