"""Waiting in tests for something that another process, thread or task does, and never for a time to pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.support.clock import ManualClock

_MOST_STEPS = 1000


async def until(condition: Callable[[], bool], *, timeout_s: float = 10.0, every_s: float = 0.01) -> None:
    """Returns as soon as the condition holds; raises TimeoutError if it does not in time."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(every_s)


async def advance_until(clock: ManualClock, condition: Callable[[], bool], *, step_s: float = 1.0) -> None:
    """Lets time pass, a step whenever nobody else gets any further."""
    for _ in range(_MOST_STEPS):
        for _ in range(20):
            if condition():
                return
            await asyncio.sleep(0.0005)
        await clock.advance(step_s)
    raise AssertionError("What was waited for did not happen, however much time passed.")
