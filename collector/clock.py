"""Time as a parameter, so that tests never sleep."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol


class Clock(Protocol):
    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch; may jump."""

    def monotonic_s(self) -> float:
        """Seconds that only grow; for deadlines and durations."""

    def sleep(self, seconds: float) -> Awaitable[None]:
        """To be awaited or given to a task at once: whether the time runs from the call or from then on is open."""


class SystemClock:
    def now_ns(self) -> int:
        return time.time_ns()

    def monotonic_s(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
