"""When a turn or a conversation is ready to be judged: pure rules over a few facts, with time as a parameter.

A turn is ready
  * when its root or agent span ended, nothing is open below it and it was quiet for the *quiet period*; else
  * when nothing of it arrived for the *idle timeout*; else
  * when it reached the *maximal age*.
A conversation is ready once all of its turns are and
  * the application marked its end (then after the quiet period); else
  * no turn followed for the *conversation's idle timeout*; else
  * it reached its maximal age, counted from when it was last handed over.

Quiet period and idle timeouts follow the agent's own waits (`collector.live.pace`) between bounds. A unit that was
handed over before and changed since waits longer for each further revision, so that a trickle of late spans cannot buy
a judge call each. Times are nanoseconds of stream time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.live.pace import Pace, WaitHistogram
from collector.live.ready import ReadyReason

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class AdaptiveWait:
    """A wait in seconds that follows an observed distribution between two bounds."""

    default_s: float
    """Used until enough waits were seen."""
    min_s: float
    max_s: float
    quantile: float = 0.98
    margin: float = 1.5
    min_samples: int = 20

    def __post_init__(self) -> None:
        if not 0 < self.min_s <= self.default_s <= self.max_s:
            raise ValueError(
                f"The wait {self.default_s} s is not between {self.min_s} s and {self.max_s} s; "
                "order them as min_s, default_s, max_s, all above zero."
            )

    def seconds(self, waits: WaitHistogram) -> float:
        if waits.total < self.min_samples:
            return self.default_s
        return min(self.max_s, max(self.min_s, self.margin * waits.quantile_s(self.quantile)))


@dataclass(frozen=True, slots=True)
class ReadinessConfig:
    """When turns and conversations are handed over; all times in seconds."""

    quiet: AdaptiveWait = field(default_factory=lambda: AdaptiveWait(default_s=6, min_s=1, max_s=60))
    """After a turn's end was seen. OpenTelemetry's SDKs send every 5 s: two processes of a turn may differ by that."""
    turn_idle: AdaptiveWait = field(default_factory=lambda: AdaptiveWait(default_s=90, min_s=30, max_s=900))
    """For a turn whose end is not seen."""
    turn_max_age_s: float = 3600
    conversation_idle: AdaptiveWait = field(
        default_factory=lambda: AdaptiveWait(default_s=300, min_s=60, max_s=1800, quantile=0.9)
    )
    """After a conversation's last turn."""
    conversation_max_age_s: float = 14400
    """A conversation that never pauses is handed over this often."""
    revision_interval_s: float = 30
    """At least this long between two revisions of one unit; doubles with each revision."""
    revision_interval_max_s: float = 900


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """What the rules know of a turn or a conversation."""

    first_arrival_ns: int
    last_arrival_ns: int
    ended: bool
    """Turn: its root or agent span ended and nothing is open below. Conversation: its end was marked."""
    revision: int | None = None
    """The revision handed over last, if any."""
    given_ns: int = 0
    """When that was."""


@dataclass(frozen=True, slots=True)
class Due:
    at_ns: int
    reason: ReadyReason


def turn_due(facts: UnitFacts, pace: Pace, config: ReadinessConfig) -> Due:
    if facts.ended:
        due = Due(_after(facts.last_arrival_ns, config.quiet.seconds(pace.settle)), ReadyReason.ENDED)
    else:
        due = Due(_after(facts.last_arrival_ns, config.turn_idle.seconds(pace.gaps)), ReadyReason.IDLE)
    aged = Due(_after(facts.first_arrival_ns, config.turn_max_age_s), ReadyReason.MAX_AGE)
    return _limited(min(due, aged, key=_time), facts, config)


def conversation_due(facts: UnitFacts, pace: Pace, config: ReadinessConfig) -> Due:
    if facts.ended:
        due = Due(_after(facts.last_arrival_ns, config.quiet.seconds(pace.settle)), ReadyReason.END_MARKER)
    else:
        due = Due(_after(facts.last_arrival_ns, config.conversation_idle.seconds(pace.pauses)), ReadyReason.IDLE)
    since_ns = facts.first_arrival_ns if facts.revision is None else facts.given_ns
    aged = Due(_after(since_ns, config.conversation_max_age_s), ReadyReason.MAX_AGE)
    return _limited(min(due, aged, key=_time), facts, config)


def _limited(due: Due, facts: UnitFacts, config: ReadinessConfig) -> Due:
    if facts.revision is None:
        return due
    wait_s = min(config.revision_interval_max_s, config.revision_interval_s * 2.0 ** min(facts.revision, 30))
    return Due(max(due.at_ns, _after(facts.given_ns, wait_s)), due.reason)


def _after(start_ns: int, seconds: float) -> int:
    return start_ns + int(seconds * _SECOND_NS)


def _time(due: Due) -> int:
    return due.at_ns
