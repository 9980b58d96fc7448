"""Waits are remembered in bounded space and follow an agent that changes."""

from __future__ import annotations

import random

import pytest

from collector.live.pace import Pace, WaitHistogram


@pytest.mark.parametrize("median_s", [0.02, 0.5, 7.0, 120.0, 3000.0])
def test_a_quantile_is_never_below_the_true_one_and_at_most_a_bucket_above(median_s):
    rng = random.Random(7)
    waits = sorted(median_s * rng.lognormvariate(0, 0.5) for _ in range(900))
    histogram = WaitHistogram()

    for wait in waits:
        histogram.add(wait)

    true_s = waits[int(0.9 * len(waits))]
    assert 0.95 * true_s <= histogram.quantile_s(0.9) <= 1.5 * true_s


def test_it_follows_an_agent_that_became_slow():
    histogram = WaitHistogram()
    for _ in range(5000):
        histogram.add(0.1)

    for _ in range(5000):
        histogram.add(20.0)

    assert histogram.quantile_s(0.5) >= 20


def test_counts_stay_bounded():
    histogram = WaitHistogram()

    for _ in range(100_000):
        histogram.add(1e9)

    assert histogram.total < 1024
    assert len(histogram.counts) == 42


def test_nothing_known_is_zero():
    assert WaitHistogram().quantile_s(0.9) == 0


def test_a_pace_survives_being_written_down():
    pace = Pace()
    pace.settle.add(3)
    pace.gaps.add(9)
    pace.pauses.add(100)

    again = Pace.from_lists(pace.to_lists())

    assert again.to_lists() == pace.to_lists()
    assert again.pauses.quantile_s(1) >= 100


def test_stored_counts_of_another_size_or_sign_are_made_to_fit():
    histogram = WaitHistogram([-5, 3] + [1] * 100)

    assert histogram.total == 3 + 40
