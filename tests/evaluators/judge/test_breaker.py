import pytest

from evaluators.judge.breaker import CircuitBreaker
from tests.support.clock import ManualClock


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(failures_to_open=3, cooldown_s=30, clock=clock)


def fail(breaker, times):
    for _ in range(times):
        breaker.admit()
        breaker.failed()


def test_it_opens_after_failures_in_a_row(breaker):
    fail(breaker, 2)
    before = breaker.is_open
    fail(breaker, 1)

    assert (before, breaker.is_open, breaker.admit()) == (False, True, False)
    assert breaker.retry_after_s == 30


def test_a_success_between_starts_the_count_anew(breaker):
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)

    assert not breaker.is_open


async def test_after_the_pause_one_probe_is_let_through(breaker, clock):
    fail(breaker, 3)
    await clock.advance(30)

    assert [breaker.admit() for _ in range(3)] == [True, False, False]


async def test_a_good_probe_closes_it(breaker, clock):
    fail(breaker, 3)
    await clock.advance(30)
    breaker.admit()
    breaker.succeeded()

    assert not breaker.is_open
    assert breaker.admit()
    assert breaker.admit()


async def test_a_bad_probe_doubles_the_pause_up_to_ten_times(breaker, clock):
    fail(breaker, 3)
    pauses = []
    for _ in range(6):
        await clock.advance(breaker.retry_after_s)
        breaker.admit()
        breaker.failed()
        pauses.append(breaker.retry_after_s)

    assert pauses == [60, 120, 240, 300, 300, 300]


async def test_an_abandoned_probe_lets_another_one_through(breaker, clock):
    fail(breaker, 3)
    await clock.advance(30)
    breaker.admit()
    breaker.abandoned()

    assert breaker.admit()


async def test_a_probe_that_ran_out_of_time_counts_as_failed(breaker, clock):
    fail(breaker, 3)
    await clock.advance(30)
    breaker.admit()
    breaker.abandoned()
    breaker.failed()

    assert not breaker.admit()
    assert breaker.retry_after_s == 60


def test_failures_of_calls_still_in_flight_do_not_prolong_the_pause(breaker):
    fail(breaker, 3)
    breaker.failed()

    assert breaker.retry_after_s == 30
