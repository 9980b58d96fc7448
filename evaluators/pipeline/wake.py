"""Rest until there is something to do: until somebody pokes, or a time has passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from collector.clock import Clock
from collector.waiting import happens_within


class Wake:
    """A poke is never lost: one that comes between `clear` and `rest` ends the rest at once."""

    def __init__(self, clock: Clock, *, on_rest: Callable[[], None]) -> None:
        self._clock = clock
        self._on_rest = on_rest
        self._poked = asyncio.Event()
        self._resting = False

    @property
    def is_resting(self) -> bool:
        return self._resting and not self._poked.is_set()

    def poke(self) -> None:
        self._poked.set()

    def clear(self) -> None:
        """Before looking for something to do."""
        self._poked.clear()

    async def rest(self, seconds: float | None) -> None:
        """None: for as long as nobody pokes."""
        if self._poked.is_set():
            return
        self._resting = True
        self._on_rest()
        try:
            if seconds is None:
                await self._poked.wait()
            else:
                await happens_within(seconds, self._poked, clock=self._clock)
        finally:
            self._resting = False
