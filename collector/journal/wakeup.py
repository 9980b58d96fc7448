"""Tells readers in the writer's own process and event loop that there is something new, without polling."""

from __future__ import annotations

import asyncio


class Wakeup:
    """Event loop only."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake everybody who waits now."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, *, timeout_s: float) -> bool:
        """False after the time."""
        event = self._event
        try:
            async with asyncio.timeout(timeout_s):
                await event.wait()
        except TimeoutError:
            return False
        return True
