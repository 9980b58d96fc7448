"""The bounds of the outbox and the patience of a delivery, with defaults that work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random

from evaluators.verdict import Verdict

MIB = 1 << 20


class DeadLetterReason(StrEnum):
    """Why a verdict was given up for a destination."""

    REJECTED = "rejected"
    """The destination refused this verdict for good."""
    MAX_TRIES = "max_tries"
    MAX_AGE = "max_age"
    TARGET_UNKNOWN = "target_unknown"
    """The destination did not come to know what the score belongs to."""
    OVERFLOW = "overflow"
    """The destination's backlog was at its bound and this verdict was the oldest."""
    CRASHED = "crashed"
    """The exporter itself broke on this verdict, each time."""
    UNDECODABLE = "undecodable"
    DESTINATION_REMOVED = "destination_removed"
    """The destination is no longer configured."""


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    max_backlog_rows: int = 100_000
    """Undelivered verdicts kept for one destination; the oldest becomes a dead letter when one more comes."""
    max_backlog_bytes: int = 256 * MIB
    max_dead_rows: int = 10_000
    """Dead letters kept over all destinations; the oldest is removed when one more comes."""
    max_dead_bytes: int = 64 * MIB
    max_verdict_bytes: int = 1 * MIB
    retention_s: float = 7 * 86_400.0
    """How long the id of a delivered verdict is remembered, so that a replay does not send it again."""
    max_remembered_ids: int = 1_000_000


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    batch_rows: int = 100
    batch_bytes: int = 1 * MIB
    timeout_s: float = 30.0
    """For one try."""
    initial_backoff_s: float = 1.0
    max_backoff_s: float = 60.0
    max_retry_after_s: float = 600.0
    """How long a destination may ask to wait."""
    max_age_s: float = 3 * 86_400.0
    """A try that fails on a verdict older than this is its last."""
    max_tries: int | None = None
    """None: only age ends it. An outage costs few tries: only a small batch probes a dead destination."""
    max_crashes: int = 3
    """Tries for a verdict on which the exporter itself breaks."""

    @property
    def max_wait_s(self) -> float:
        """The longest that a verdict may ever be put off."""
        return max(self.max_backoff_s, self.max_retry_after_s)

    def backoff_s(self, failures: int, *, random: Random) -> float:
        """Doubles with each failure up to the bound; its upper half is random, so that many spread out."""
        full = min(self.max_backoff_s, self.initial_backoff_s * 2.0 ** min(failures, 32))
        return full * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class ClaimedVerdict:
    """A verdict on its way to one destination."""

    seq: int
    verdict: Verdict
    tries: int
    """Failed tries so far."""
    put_ns: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A verdict that one destination will not get unless somebody asks for it to be delivered again."""

    destination: str
    verdict_id: str
    reason: str
    error: str
    tries: int
    died_ns: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for one destination."""

    rows: int = 0
    bytes: int = 0
    oldest_put_ns: int | None = None
