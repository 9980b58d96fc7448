"""Letting time pass on a manual clock until something has happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.support.clock import ManualClock


async def advance_until(
    clock: ManualClock, condition: Callable[[], bool], *, step_s: float = 1.0, max_steps: int = 400
) -> None:
    """Advance in steps, with a moment of real time after each for threads and sockets; AssertionError if in vain."""
    for _ in range(max_steps):
        if condition():
            return
        await clock.advance(step_s)
        for _ in range(5):
            await asyncio.sleep(0.002)
            if condition():
                return
    raise AssertionError(f"Not fulfilled after {max_steps} steps of {step_s} s.")
