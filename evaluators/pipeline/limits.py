"""Bounds of the judging pipeline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PipelineLimits:
    queue_items: int = 1000
    """Units that were submitted and are not yet decided on or written to disk; above, `submit` waits."""
    queue_bytes: int = 32 << 20
    """The same, in bytes of their content."""
    max_concurrency: int = 32
    """Evaluations at once of evaluators that wait for a judge; the judge's client has its own, narrower bound."""
    deadline_s: float = 90.0
    """Hard bound of one evaluation that waits for a judge; over the client's own deadline, which ends it in order."""
    immediate_deadline_s: float = 10.0
    """Hard bound of one evaluation by the built-in checks."""
    max_tries: int = 3
    """Evaluations of one unit that may raise or run over the deadline before it is a dead letter."""
    max_interruptions: int = 6
    """Evaluations of one unit that may be under way at a death of the process before it is a dead letter."""
    retry_delay_s: float = 1.0
    """Before the second try; doubled for each further one."""
    defer_first_s: float = 5.0
    """First pause after a judge has refused; doubled up to `defer_max_s`."""
    defer_max_s: float = 600.0
    max_own_refusals: int = 8
    """Refusals of one unit, while the judge answers others, before it is a dead letter."""
    max_refusals: int = 60
    """The same for all refusals, since the only unit that waits looks like a judge that is down."""
    max_deferral_s: float = 86400.0
    """A unit that no judge has answered for so long fails."""
    max_budget_wait_s: float = 35 * 86400.0
    """The same for one that waits for the judge's budget to renew."""
    budget_wait: float = 1.0
    """Share of conversations whose units wait for that; the others are given up."""
    waiting_bytes: int = 256 << 20
    """Content that waits on disk; above, dead letters and then the oldest work are given up, and counted as failed."""
    upkeep_interval_s: float = 30.0
