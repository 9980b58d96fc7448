"""Time as the telemetry stream sees it: what every timer of the live state runs on.

While the reader has caught up with the journal, stream time runs with the monotonic clock. While it is behind, stream
time follows the times at which records were received, so a backlog of an hour that is read in a minute neither fires
the timers of an hour at once nor holds them back. It never runs backwards and never overtakes real time, so a jump of
the wall clock by hours, in either direction, neither closes conversations nor keeps them open.

Only across a restart is the wall clock trusted, since nothing else remembers how long the process was away.
"""

from __future__ import annotations

from collector.clock import Clock


class StreamTime:
    """`now_ns` starts at the epoch time of the first start, for people's eyes; from then on only differences count."""

    def __init__(self, clock: Clock, *, stored_ns: int | None = None, stored_wall_ns: int | None = None) -> None:
        self._clock = clock
        wall_ns = clock.now_ns()
        away_ns = 0
        if stored_ns is not None and stored_wall_ns is not None:
            away_ns = max(0, wall_ns - stored_wall_ns)
        start_ns = wall_ns if stored_ns is None else stored_ns
        self._now_ns = start_ns
        self._limit_start_ns = start_ns + away_ns
        self._limit_start_s = clock.monotonic_s()
        self._last_received_ns = stored_wall_ns

    @property
    def now_ns(self) -> int:
        return self._now_ns

    @property
    def wall_ns(self) -> int:
        """The wall time to store with `now_ns`: when the last record was received, or now once caught up."""
        return self._clock.now_ns() if self._last_received_ns is None else self._last_received_ns

    def record(self, received_ns: int) -> int:
        """Advance to a record that was received at this wall time; the stream time at which it counts as arrived."""
        if self._last_received_ns is not None:
            ahead_ns = max(0, received_ns - self._last_received_ns)
            self._now_ns = max(self._now_ns, min(self._now_ns + ahead_ns, self._limit_ns()))
        self._last_received_ns = received_ns
        return self._now_ns

    def caught_up(self) -> int:
        """Everything that was received has been read: stream time is real time."""
        self._now_ns = max(self._now_ns, self._limit_ns())
        self._last_received_ns = self._clock.now_ns()
        return self._now_ns

    def _limit_ns(self) -> int:
        return self._limit_start_ns + int((self._clock.monotonic_s() - self._limit_start_s) * 1e9)
