"""A hard end for a piece of work, on a clock that is a parameter."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from collector.clock import Clock

T = TypeVar("T")


class DeadlineError(Exception):
    """The work was cancelled because its time was over."""


async def within(seconds: float, work: Coroutine[Any, Any, T], *, clock: Clock) -> T:
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise DeadlineError(f"Not done within {seconds:g} s.")
    finally:
        task.cancel()
        timer.cancel()
        await asyncio.gather(task, timer, return_exceptions=True)
