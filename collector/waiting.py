"""Waiting on a clock that is a parameter: for the first of several things, for an event, and for work with a hard end.

Whatever these start has ended when they return, also when the caller is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from collector.clock import Clock

T = TypeVar("T")


class DeadlineError(TimeoutError):
    """The work was cancelled because its time was over."""


async def first_of(*waits: Awaitable[object]) -> None:
    """Return when one of them is over; the others are cancelled and have ended by then."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(*tasks)


async def happens_within(seconds: float, event: asyncio.Event, *, clock: Clock) -> bool:
    """True as soon as the event is set, False after the time."""
    if not event.is_set():
        await first_of(event.wait(), clock.sleep(seconds))
    return event.is_set()


async def within(seconds: float, work: Coroutine[Any, Any, T], *, clock: Clock) -> T:
    """The work's result; raises DeadlineError, once the work has been cancelled, where its time was over."""
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((task, timer), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise DeadlineError(f"Not done within {seconds:g} s.")
    finally:
        await end(task, timer)


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has ended; what came of it is dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
