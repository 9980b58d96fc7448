import random

from collector.relay.pace import Pace
from collector.relay.retry import RetryPolicy
from tests.support.clock import ManualClock


def pace(clock):
    return Pace(policy=RetryPolicy(jitter=0.0), clock=clock, rng=random.Random(1))


async def test_tries_that_fail_together_are_one_failure():
    clock = ManualClock()
    shared = pace(clock)
    attempts = [shared.begin() for _ in range(10)]

    for attempt in attempts:
        shared.failed(attempt, retry_after_s=None)

    assert shared.pause_s == 1.0


async def test_each_failed_probe_doubles_the_pause():
    clock = ManualClock()
    shared = pace(clock)
    pauses = []

    for _ in range(7):
        shared.failed(shared.begin(), retry_after_s=None)
        pauses.append(shared.pause_s)
        await clock.advance(shared.pause_s)

    assert pauses == [1, 2, 4, 8, 16, 30, 30]


async def test_an_answer_to_a_probe_ends_the_failure_and_its_count():
    shared = pace(ManualClock())
    shared.failed(shared.begin(), retry_after_s=None)
    shared.failed(shared.begin(), retry_after_s=None)

    shared.answered(shared.begin())

    assert not shared.is_failing
    shared.failed(shared.begin(), retry_after_s=None)
    assert shared.pause_s == 1.0


async def test_an_answer_from_before_the_failure_says_nothing():
    shared = pace(ManualClock())
    early, failing = shared.begin(), shared.begin()
    shared.failed(failing, retry_after_s=None)

    shared.answered(early)

    assert shared.is_failing


async def test_a_later_time_named_by_another_try_of_the_batch_counts():
    shared = pace(ManualClock())
    first, second, third = (shared.begin() for _ in range(3))

    shared.failed(first, retry_after_s=None)
    shared.failed(second, retry_after_s=20.0)
    shared.failed(third, retry_after_s=2.0)

    assert 20.0 <= shared.pause_s <= 22.0
