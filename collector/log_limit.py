"""One line for an error that repeats: the first at once, then one every interval with the number left out."""

from __future__ import annotations

from collector.clock import Clock


class LogLimit:
    """Keys must come from a small fixed set; they are kept."""

    def __init__(self, clock: Clock, *, interval_s: float = 10.0) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def allows(self, key: str) -> bool:
        now_s = self._clock.monotonic_s()
        last_s = self._last.get(key)
        if last_s is not None and now_s - last_s < self._interval_s:
            self._left_out[key] = self._left_out.get(key, 0) + 1
            return False
        self._last[key] = now_s
        return True

    def left_out(self, key: str) -> int:
        """How many lines of this key were not allowed since the last that was; counts from 0 again."""
        return self._left_out.pop(key, 0)
