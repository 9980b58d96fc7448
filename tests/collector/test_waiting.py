import asyncio

import pytest

from collector.waiting import DeadlineError, first_of, happens_within, within
from tests.support.clock import ManualClock


async def test_work_that_is_done_in_time_gives_its_result():
    clock = ManualClock()

    assert await within(10, asyncio.sleep(0, "done"), clock=clock) == "done"


async def test_work_that_is_not_done_is_cancelled():
    clock, cancelled = ManualClock(), []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    async def ten_seconds_later():
        await asyncio.sleep(0)
        await clock.advance(10)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ten_seconds_later())
        with pytest.raises(DeadlineError, match="10 s"):
            await within(10, work(), clock=clock)

    assert cancelled == [True]


async def test_an_error_of_the_work_is_passed_on():
    async def work():
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        await within(10, work(), clock=ManualClock())


async def test_cancelling_the_caller_cancels_the_work():
    cancelled = asyncio.Event()

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    task = asyncio.ensure_future(within(10, work(), clock=ManualClock()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


async def test_an_event_is_waited_for_and_not_for_ever():
    clock, event = ManualClock(), asyncio.Event()
    too_late = asyncio.ensure_future(happens_within(10, event, clock=clock))
    await asyncio.sleep(0)
    await clock.advance(10)

    assert not await too_late

    in_time = asyncio.ensure_future(happens_within(10, event, clock=clock))
    await asyncio.sleep(0)
    event.set()

    assert await in_time
    assert await happens_within(10, event, clock=clock)


async def test_the_first_to_be_over_ends_the_wait_and_the_others():
    ended = []

    async def longer():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    await first_of(longer(), asyncio.sleep(0))

    assert ended == [True]
