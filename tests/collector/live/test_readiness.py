"""The readiness rules as a table: facts in, time and reason out."""

from __future__ import annotations

import pytest

from collector.live.pace import Pace, WaitHistogram
from collector.live.readiness import (
    AdaptiveWait,
    ReadinessConfig,
    UnitFacts,
    conversation_due,
    turn_due,
)
from collector.live.ready import ReadyReason

SECOND_NS = 1_000_000_000
CONFIG = ReadinessConfig()


def facts(*, first_s=0, last_s=0, ended=False, revision=None, given_s=0):
    return UnitFacts(
        first_arrival_ns=first_s * SECOND_NS,
        last_arrival_ns=last_s * SECOND_NS,
        ended=ended,
        revision=revision,
        given_ns=given_s * SECOND_NS,
    )


@pytest.mark.parametrize(
    ("known", "due_s", "reason"),
    [
        pytest.param(facts(last_s=10, ended=True), 16, ReadyReason.ENDED, id="ended: after the quiet period"),
        pytest.param(facts(last_s=10), 100, ReadyReason.IDLE, id="end not seen: after the idle timeout"),
        pytest.param(facts(last_s=3590), 3600, ReadyReason.MAX_AGE, id="still busy: at the maximal age"),
        pytest.param(
            facts(last_s=3599, ended=True), 3600, ReadyReason.MAX_AGE, id="ended at the maximal age: no quiet period"
        ),
        pytest.param(
            facts(last_s=20, ended=True, revision=0, given_s=16), 46, ReadyReason.ENDED, id="late data: limited rate"
        ),
        pytest.param(
            facts(last_s=500, ended=True, revision=0, given_s=16), 506, ReadyReason.ENDED, id="late data, much later"
        ),
        pytest.param(
            facts(last_s=500, ended=True, revision=3, given_s=490), 730, ReadyReason.ENDED, id="fourth revision: slower"
        ),
        pytest.param(
            facts(last_s=500, ended=True, revision=40, given_s=490),
            1390,
            ReadyReason.ENDED,
            id="never slower",
        ),
    ],
)
def test_a_turn_is_ready(known, due_s, reason):
    due = turn_due(known, Pace(), CONFIG)

    assert due.at_ns == due_s * SECOND_NS
    assert due.reason is reason


@pytest.mark.parametrize(
    ("known", "due_s", "reason"),
    [
        pytest.param(facts(last_s=10), 310, ReadyReason.IDLE, id="after the idle timeout"),
        pytest.param(facts(last_s=10, ended=True), 16, ReadyReason.END_MARKER, id="marked: after the quiet period"),
        pytest.param(facts(last_s=14399), 14400, ReadyReason.MAX_AGE, id="never pauses: at the maximal age"),
        pytest.param(
            facts(last_s=20000, revision=0, given_s=14400),
            20300,
            ReadyReason.IDLE,
            id="its age counts from when it was last handed over",
        ),
        pytest.param(
            facts(last_s=28790, revision=0, given_s=14400), 28800, ReadyReason.MAX_AGE, id="and again at that age"
        ),
    ],
)
def test_a_conversation_is_ready(known, due_s, reason):
    due = conversation_due(known, Pace(), CONFIG)

    assert due.at_ns == due_s * SECOND_NS
    assert due.reason is reason


@pytest.mark.parametrize(
    ("waits_s", "expected_s"),
    [
        pytest.param([], 6, id="nothing known: the default"),
        pytest.param([30] * 19, 6, id="too little known: the default"),
        pytest.param([0] * 100, 1, id="everything comes at once: the least"),
        pytest.param([500] * 100, 60, id="hopelessly late: the most"),
    ],
)
def test_a_wait_follows_what_was_seen_between_its_bounds(waits_s, expected_s):
    waits = WaitHistogram()
    for wait in waits_s:
        waits.add(wait)

    assert CONFIG.quiet.seconds(waits) == expected_s


def test_a_slow_agent_gets_a_longer_quiet_period_than_a_fast_one():
    slow, fast = Pace(), Pace()
    for _ in range(50):
        slow.settle.add(12)
        fast.settle.add(0.3)

    known = facts(last_s=10, ended=True)

    assert 22 * SECOND_NS < turn_due(known, slow, CONFIG).at_ns < 40 * SECOND_NS
    assert turn_due(known, fast, CONFIG).at_ns == 11 * SECOND_NS


@pytest.mark.parametrize(("least", "default", "most"), [(0, 1, 2), (2, 1, 3), (1, 4, 3)])
def test_bounds_in_disorder_are_refused(least, default, most):
    with pytest.raises(ValueError, match="order them"):
        AdaptiveWait(min_s=least, default_s=default, max_s=most)
