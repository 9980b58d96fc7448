import asyncio

import pytest

from evaluators.judge.concurrency import AdaptiveLimit
from tests.support.clock import ManualClock


async def hold(limit, released, order, name):
    async with limit:
        order.append(name)
        await released.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_than_the_limit_run_at_once_and_others_follow_in_order():
    limit, order = AdaptiveLimit(2, clock=ManualClock()), []
    gates = [asyncio.Event() for _ in range(5)]
    async with asyncio.TaskGroup() as tasks:
        for number, gate in enumerate(gates):
            tasks.create_task(hold(limit, gate, order, number))
        await settle()
        started = list(order)
        for gate in gates:
            gate.set()

    assert started == [0, 1]
    assert order == [0, 1, 2, 3, 4]
    assert limit.in_flight == 0


async def test_a_waiting_call_that_is_cancelled_leaves_its_place():
    limit, order, gate = AdaptiveLimit(1, clock=ManualClock()), [], asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(hold(limit, gate, order, "first"))
        await settle()
        second = tasks.create_task(hold(limit, gate, order, "second"))
        tasks.create_task(hold(limit, gate, order, "third"))
        await settle()
        second.cancel()
        await settle()
        gate.set()

    assert order == ["first", "third"]
    assert limit.in_flight == 0


async def test_a_call_cancelled_in_the_moment_it_gets_a_slot_passes_it_on():
    limit, order, gate = AdaptiveLimit(1, clock=ManualClock()), [], asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(hold(limit, gate, order, "first"))
        await settle()
        second = tasks.create_task(hold(limit, gate, order, "second"))
        tasks.create_task(hold(limit, gate, order, "third"))
        await settle()
        gate.set()
        await asyncio.sleep(0)
        second.cancel()

    assert "third" in order
    assert limit.in_flight == 0


async def test_the_limit_halves_once_a_burst_and_comes_back():
    clock = ManualClock()
    limit = AdaptiveLimit(16, clock=clock)
    for _ in range(10):
        limit.overloaded()
    after_burst = limit.limit
    await clock.advance(1)
    limit.overloaded()
    after_second = limit.limit
    for _ in range(500):
        limit.succeeded()

    assert (after_burst, after_second, limit.limit) == (8, 4, 16)


async def test_the_limit_never_falls_below_one():
    clock = ManualClock()
    limit = AdaptiveLimit(2, clock=clock)
    for _ in range(10):
        limit.overloaded()
        await clock.advance(1)

    async with limit:
        assert limit.in_flight == 1


async def test_an_error_inside_gives_the_slot_back():
    limit = AdaptiveLimit(1, clock=ManualClock())

    with pytest.raises(ZeroDivisionError):
        async with limit:
            1 / 0  # noqa: B018

    assert limit.in_flight == 0
