"""A clock that stands still until it is told to move."""

from __future__ import annotations

import asyncio


class ManualClock:
    """Sleepers wake when `advance` passes their time; `advance` yields so that they run before it returns."""

    def __init__(self, *, now_ns: int = 1_800_000_000_000_000_000) -> None:
        self._now_ns = now_ns
        self._monotonic_s = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now_ns(self) -> int:
        return self._now_ns

    def monotonic_s(self) -> float:
        return self._monotonic_s

    def sleep(self, seconds: float) -> asyncio.Future[None]:
        """The time runs from the call: a task that starts late, after an `advance`, does not sleep for longer."""
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._monotonic_s + seconds, woken))
        return woken

    @property
    def sleeper_count(self) -> int:
        return sum(not future.done() for _, future in self._sleepers)

    def jump(self, seconds: float) -> None:
        """Move the wall clock only, as an NTP step does."""
        self._now_ns += int(seconds * 1e9)

    async def advance(self, seconds: float) -> None:
        self._now_ns += int(seconds * 1e9)
        self._monotonic_s += seconds
        due = [entry for entry in self._sleepers if entry[0] <= self._monotonic_s]
        self._sleepers = [entry for entry in self._sleepers if entry[0] > self._monotonic_s]
        for _, future in sorted(due, key=lambda entry: entry[0]):
            if not future.done():
                future.set_result(None)
        for _ in range(10):
            await asyncio.sleep(0)
