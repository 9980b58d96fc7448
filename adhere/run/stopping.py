"""Ends a process in order: step after step, all within one deadline; a step that fails does not spare the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from collector.clock import Clock

log = structlog.get_logger(__name__)

Stop = Callable[[float], Awaitable[object]]
"""Takes the seconds that are left."""

_LEAST_S = 0.5


class Steps:
    """What to do at the end, in the reverse order of `add`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._steps: list[tuple[str, Stop]] = []

    def add(self, name: str, stop: Stop) -> None:
        self._steps.append((name, stop))

    async def run(self, deadline_s: float) -> None:
        """Each step gets what is left, and half a second at least."""
        end_s = self._clock.monotonic_s() + deadline_s
        while self._steps:
            name, stop = self._steps.pop()
            try:
                await stop(max(_LEAST_S, end_s - self._clock.monotonic_s()))
            except Exception:  # A supervision point: what follows must be closed all the same.
                log.exception("stopping failed", step=name)
