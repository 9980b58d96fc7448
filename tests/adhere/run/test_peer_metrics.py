from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Gauge

from adhere.run.data_dir import DataDir
from adhere.run.peer_metrics import PeerMetrics
from collector.errors import RetryableError
from exporters.exposition import ExpositionFormat, registry_source
from exporters.server import OperationsServer
from tests.support.clock import ManualClock

Serve = Callable[[float], Awaitable[OperationsServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """An evaluator's metrics, in which one gauge has the given value."""
    async with AsyncExitStack() as stack:

        async def started(value: float) -> OperationsServer:
            registry = CollectorRegistry()
            Gauge("adhere_value", "A value.", registry=registry).set(value)
            server = OperationsServer(
                sources={"scores": registry_source(registry)},
                alive=lambda: True,
                ready=lambda: True,
                clock=ManualClock(),
            )
            stack.push_async_callback(server.shutdown, 5.0)
            await server.start()
            return server

        yield started


@pytest.fixture
async def peer(tmp_path: Path) -> AsyncIterator[PeerMetrics]:
    found = PeerMetrics(DataDir(tmp_path))
    yield found
    await found.close()
    await found.close()


async def test_without_an_evaluator_reading_fails_for_now(peer: PeerMetrics) -> None:
    with pytest.raises(RetryableError, match="not running"):
        await peer(ExpositionFormat.TEXT)


async def test_metrics_are_read_from_where_the_evaluator_is_now(
    peer: PeerMetrics, serve: Serve, tmp_path: Path
) -> None:
    data = DataDir(tmp_path)
    first, second = await serve(1), await serve(2)
    data.write_evaluator_port(first.port)
    assert "adhere_value 1.0" in await peer(ExpositionFormat.TEXT)

    data.write_evaluator_port(second.port)

    assert "adhere_value 2.0" in await peer(ExpositionFormat.TEXT)


async def test_an_evaluator_that_was_killed_is_away(peer: PeerMetrics, serve: Serve, tmp_path: Path) -> None:
    server = await serve(1)
    DataDir(tmp_path).write_evaluator_port(server.port)
    await server.shutdown(1)

    with pytest.raises(RetryableError, match="cannot be read"):
        await peer(ExpositionFormat.TEXT)
