"""Time as a parameter, so that tests never sleep."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch; may jump."""

    def monotonic_s(self) -> float:
        """Seconds that only grow; for deadlines and durations."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now_ns(self) -> int:
        return time.time_ns()

    def monotonic_s(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
