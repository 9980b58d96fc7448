"""How late the event loop wakes up: the first sign that something blocks it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Histogram

from collector.clock import Clock

_INTERVAL_S = 0.5
_BUCKETS_S = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


async def measure_loop_lag(registry: CollectorRegistry, *, process: str, clock: Clock) -> None:
    """Until cancelled."""
    lag = Histogram(
        "adhere_event_loop_lag_seconds",
        "How much later than asked for the event loop woke up.",
        ["process"],
        buckets=_BUCKETS_S,
        registry=registry,
    ).labels(process)
    while True:
        started_s = clock.monotonic_s()
        await clock.sleep(_INTERVAL_S)
        lag.observe(max(0.0, clock.monotonic_s() - started_s - _INTERVAL_S))
