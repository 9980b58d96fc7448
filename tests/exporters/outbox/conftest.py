from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from exporters.metrics import ExportMetrics
from exporters.outbox import Outbox, OutboxLimits
from tests.support.clock import ManualClock

OpenOutbox = Callable[..., Awaitable[Outbox]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> ExportMetrics:
    return ExportMetrics(registry)


@pytest.fixture
async def open_outbox(tmp_path: Path, clock: ManualClock, metrics: ExportMetrics) -> AsyncIterator[OpenOutbox]:
    """Opens the same file as often as a test likes, and closes whatever is still open."""
    async with AsyncExitStack() as stack:

        async def opened(*destinations: str, limits: OutboxLimits | None = None) -> Outbox:
            outbox = Outbox(
                tmp_path / "outbox.db",
                destinations=destinations or ("a",),
                clock=clock,
                metrics=metrics,
                limits=limits,
            )
            stack.push_async_callback(outbox.shutdown, 1.0)
            await outbox.start()
            return outbox

        yield opened
