"""Waiting with an injected clock: for the first of several things, and for something within a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from collector.clock import Clock

T = TypeVar("T")


async def first_of(*waits: Awaitable[object]) -> None:
    """Return when one of them is over; the others are cancelled and have ended by then."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(*tasks)


async def run_within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """The work's result, or TimeoutError once the time is over and the work is cancelled."""
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((task, timer), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        await end(task, timer)


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has ended; what came of it is dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
