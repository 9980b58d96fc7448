"""Places for messages that arrive at one time, where each is kept in full before its size is known.

Time on a place is generous while nobody else wants it. As soon as somebody waits, the one who has held a place longest
has little of it left, so callers that open a call and send nothing cannot keep the others out.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from collector.errors import OverloadedError


class ReadingPlaces:
    def __init__(
        self, places: int, *, max_s: float, contended_s: float, max_waiting: int, retry_after_s: float
    ) -> None:
        """`max_s` on a place at most, `contended_s` while others wait; `max_waiting` of them, told to come back after
        `retry_after_s` when there are more.
        """
        self._free = asyncio.Semaphore(places)
        self._places = places
        self._max_s = max_s
        self._contended_s = contended_s
        self._max_waiting = max_waiting
        self._retry_after_s = retry_after_s
        self._waiting = 0
        self._unhurried: deque[tuple[asyncio.Timeout, float]] = deque()
        """Who has all the time, oldest first, and when it ends."""

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Raises TimeoutError when the time on the place is over, OverloadedError when too many wait for one."""
        async with self._turn(), asyncio.timeout(self._contended_s if self._waiting else self._max_s) as limit:
            if not self._waiting:
                self._unhurried.append((limit, asyncio.get_running_loop().time() + self._max_s))
            try:
                yield
            finally:
                self._unhurried = deque(entry for entry in self._unhurried if entry[0] is not limit)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._waiting >= self._max_waiting:
            raise OverloadedError(
                f"All {self._places} places to send a message are taken and {self._waiting} calls wait for one; "
                "send the request again later.",
                retry_after_s=self._retry_after_s,
            )
        if self._free.locked():
            self._hurry_oldest()
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()

    def _hurry_oldest(self) -> None:
        while self._unhurried:
            limit, ends_s = self._unhurried.popleft()
            if not limit.expired():
                limit.reschedule(min(ends_s, asyncio.get_running_loop().time() + self._contended_s))
                return
