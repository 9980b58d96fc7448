"""What became of an evaluation, in one word: of a verdict, and of a unit that has none yet."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from evaluators.verdict import DecisionKind, Outcome, Verdict


class Status(StrEnum):
    PENDING = "PENDING"
    SUCCESS = "SUCCESS"
    """There is a score, whether it passed or not."""
    FAILED = "FAILED"
    """There is none, and should be."""
    SKIPPED = "SKIPPED"
    """There is none, since there was nothing to judge or nobody asked."""
    CANCELLED = "CANCELLED"
    """The unit is none any more: late data made it part of another one."""
    OUTDATED = "OUTDATED"
    """There is a score, and a later revision of the unit has, or will have, another one."""


def status_of(verdict: Verdict, *, superseded: bool = False) -> Status:
    match verdict.outcome:
        case Outcome.PASS | Outcome.FAIL:
            return Status.OUTDATED if superseded else Status.SUCCESS
        case Outcome.ERROR:
            return Status.FAILED
        case Outcome.NOT_ASSESSABLE | Outcome.ABSTAIN:
            return Status.SKIPPED
        case _:
            assert_never(verdict.outcome)


def status_of_decision(kind: DecisionKind | None, *, withdrawn: bool = False) -> Status:
    """`kind` None: nothing was decided yet."""
    match kind:
        case None | DecisionKind.JUDGE_DOWN | DecisionKind.DEFERRED_BUDGET:
            return Status.PENDING
        case DecisionKind.JUDGED:
            return Status.SUCCESS
        case DecisionKind.FAILED:
            return Status.FAILED
        case DecisionKind.SUPERSEDED:
            return Status.CANCELLED if withdrawn else Status.OUTDATED
        case DecisionKind.SAMPLED_OUT | DecisionKind.FILTERED | DecisionKind.INCOMPLETE | DecisionKind.NOT_ASSESSABLE:
            return Status.SKIPPED
        case _:
            assert_never(kind)
