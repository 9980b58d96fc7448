"""Waiting in tests for what other tasks and threads do, without sleeping for a time to pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.support.clock import ManualClock

_MOST_ROUNDS = 20_000


async def until(condition: Callable[[], bool]) -> None:
    """Lets others run until it holds; fails when it does not in any reasonable number of rounds."""
    for round_number in range(_MOST_ROUNDS):
        if condition():
            return
        await asyncio.sleep(0 if round_number % 10 else 0.001)
    raise AssertionError("What was waited for did not happen.")


async def advance_until(clock: ManualClock, condition: Callable[[], bool], *, step_s: float = 1.0) -> None:
    """Lets time pass, a step whenever nobody else gets any further."""
    for _ in range(_MOST_ROUNDS // 20):
        for _ in range(20):
            if condition():
                return
            await asyncio.sleep(0.0005)
        await clock.advance(step_s)
    raise AssertionError("What was waited for did not happen, however much time passed.")
