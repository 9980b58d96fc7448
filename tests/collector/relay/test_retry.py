import asyncio
import random

import pytest

from collector.errors import PermanentError, RetryableError
from collector.relay.retry import RetryPolicy, send_with_retry
from tests.support.clock import ManualClock
from tests.support.until import until


@pytest.mark.parametrize(
    ("retries", "low", "high"), [(0, 0.7, 1.3), (1, 1.4, 2.6), (3, 5.6, 10.4), (5, 21, 39), (100_000, 21, 39)]
)
def test_backoff_doubles_up_to_its_bound_with_jitter(retries, low, high):
    rng = random.Random(7)

    delays = [RetryPolicy().delay_s(retries, retry_after_s=None, rng=rng) for _ in range(500)]

    assert low <= min(delays) < max(delays) <= high
    assert max(delays) - min(delays) > 0.5 * (high - low)


@pytest.mark.parametrize(
    ("named", "low", "high"),
    [
        pytest.param(7.0, 7.0, 7.7, id="kept_within_a_tenth"),
        pytest.param(1e9, 600.0, 660.0, id="bounded"),
        pytest.param(0.0001, 0.1, 0.1, id="not_a_hot_loop"),
        pytest.param(0.0, 0.7, 1.3, id="zero_names_nothing"),
    ],
)
def test_the_servers_word_comes_first(named, low, high):
    rng = random.Random(7)

    delays = [RetryPolicy().delay_s(0, retry_after_s=named, rng=rng) for _ in range(200)]

    assert low <= min(delays) <= max(delays) <= high


class Failing:
    def __init__(self, *errors):
        self.errors = list(errors)
        self.tries = 0

    async def __call__(self):
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)


async def run(send, clock, **policy):
    retried = []
    await send_with_retry(
        send,
        policy=RetryPolicy(jitter=0.0, **policy),
        clock=clock,
        rng=random.Random(1),
        on_retry=retried.append,
    )
    return retried


async def test_a_try_is_repeated_when_the_time_has_come_and_not_before():
    clock = ManualClock()
    send = Failing(RetryableError("Later."), RetryableError("Later.", retry_after_s=10.0))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(send, clock))

        await until(lambda: clock.sleeper_count == 1)
        await clock.advance(0.99)
        assert send.tries == 1
        await clock.advance(0.02)
        assert send.tries == 2
        await clock.advance(9.99)
        assert send.tries == 2
        await clock.advance(1.02)

    assert send.tries == 3
    assert len(running.result()) == 2


async def test_permanent_errors_are_not_repeated():
    send = Failing(PermanentError("No."))

    with pytest.raises(PermanentError):
        await run(send, ManualClock())

    assert send.tries == 1


async def test_the_last_error_is_raised_once_the_time_is_over():
    send = Failing(RetryableError("First."), RetryableError("Second."))

    with pytest.raises(RetryableError, match=r"First\."):
        await run(send, ManualClock(), max_elapsed_s=0.5)

    assert send.tries == 1
