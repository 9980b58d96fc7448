"""Waiting for an event, but not for ever, on a clock that is a parameter."""

from __future__ import annotations

import asyncio

from collector.clock import Clock


async def happens_within(event: asyncio.Event, *, seconds: float, clock: Clock) -> bool:
    """True as soon as the event is set, False after the time."""
    if event.is_set():
        return True
    waiting = asyncio.ensure_future(event.wait())
    sleeping = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((waiting, sleeping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (waiting, sleeping):
            task.cancel()
        await asyncio.gather(waiting, sleeping, return_exceptions=True)
    return event.is_set()
