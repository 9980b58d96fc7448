"""Waiting in tests for something that another process or thread does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], bool], *, timeout_s: float = 10.0, every_s: float = 0.01) -> None:
    """Returns as soon as the condition holds; raises TimeoutError if it does not in time."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(every_s)
