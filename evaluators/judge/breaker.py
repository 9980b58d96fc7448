"""A circuit breaker: after failures in a row nothing is sent for a while, then one probe decides.

Each admitted attempt ends in exactly one of `succeeded`, `failed` or `abandoned`. The pause doubles with each failed
probe, up to ten times its first length.
"""

from __future__ import annotations

from collector.clock import Clock

_MAX_GROWTH = 10


class CircuitBreaker:
    def __init__(self, *, failures_to_open: int, cooldown_s: float, clock: Clock) -> None:
        self._failures_to_open = failures_to_open
        self._first_cooldown_s = cooldown_s
        self._clock = clock
        self._cooldown_s = cooldown_s
        self._failures = 0
        self._opened_at_s: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        return self._opened_at_s is not None

    @property
    def retry_after_s(self) -> float:
        """Until a probe may be sent; 0 when closed."""
        if self._opened_at_s is None:
            return 0.0
        return max(0.0, self._opened_at_s + self._cooldown_s - self._clock.monotonic_s())

    def admit(self) -> bool:
        """Whether an attempt may be sent now; while half open, to one caller only."""
        if self._opened_at_s is None:
            return True
        if self._probing or self.retry_after_s > 0:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        self._failures = 0
        self._opened_at_s = None
        self._probing = False
        self._cooldown_s = self._first_cooldown_s

    def failed(self) -> None:
        self._failures += 1
        if self._probing or (self.is_open and self.retry_after_s == 0):  # A probe that was cancelled for its time.
            self._cooldown_s = min(2 * self._cooldown_s, _MAX_GROWTH * self._first_cooldown_s)
            self._opened_at_s = self._clock.monotonic_s()
            self._probing = False
        elif self._opened_at_s is None and self._failures >= self._failures_to_open:
            self._opened_at_s = self._clock.monotonic_s()

    def abandoned(self) -> None:
        """The attempt was cancelled and says nothing about the endpoint."""
        self._probing = False
