from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from collector.errors import RetryableError
from exporters.errors import ExporterConfigError
from exporters.exposition import ExpositionFormat, registry_source
from exporters.http_source import HttpMetricsSource
from exporters.server import OperationsServer
from tests.support.clock import ManualClock
from tests.support.raw_http import RawHttp
from tests.support.until import until

StartServer = Callable[..., Awaitable[OperationsServer]]


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("adhere_open", "Open.", registry=registry).set(5)
    return registry


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def start_server(registry: CollectorRegistry, clock: ManualClock) -> AsyncIterator[StartServer]:
    async with AsyncExitStack() as stack:

        async def started(**options: Any) -> OperationsServer:
            given: dict[str, Any] = {
                "sources": {"collector": registry_source(registry)},
                "alive": lambda: True,
                "ready": lambda: True,
                "clock": clock,
            }
            server = OperationsServer(**given | options)
            stack.push_async_callback(server.shutdown, 5.0)
            await server.start()
            return server

        yield started


async def get(server: OperationsServer, path: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        return await client.get(f"http://127.0.0.1:{server.port}{path}", headers=headers)


async def test_metrics_come_as_text_or_openmetrics(start_server: StartServer):
    server = await start_server()

    text = await get(server, "/metrics")
    openmetrics = await get(server, "/metrics", accept="application/openmetrics-text")

    assert text.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert openmetrics.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    for families in (parse_text(text.text), parse_openmetrics(openmetrics.text)):
        found = {family.name: family.samples[0].value for family in families}
        assert found == {"adhere_open": 5, "adhere_metrics_source_up": 1}


async def test_who_asks_nothing_keeps_no_probe_out(start_server: StartServer):
    server = await start_server()

    async with AsyncExitStack() as held:
        silent = [await held.enter_async_context(RawHttp(server.port)) for _ in range(150)]
        begun = silent[100:]
        for one in begun:
            await one.send(b"GET /healthz HTTP/1.1\r\n")
        probes = [(await get(server, path)).status_code for path in ("/healthz", "/readyz", "/metrics")]
        assert await silent[0].is_closed()
        await begun[-1].send(b"host: 127.0.0.1\r\n\r\n")
        newest = await begun[-1].response()

    assert probes == [200, 200, 200]
    assert newest.status == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nhost: a",
        b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n",
    ],
    ids=["nothing", "half a head", "half a body"],
)
async def test_a_request_that_does_not_come_is_not_waited_for(start_server: StartServer, sent: bytes):
    server = await start_server(request_timeout_s=0.1)

    async with RawHttp(server.port) as http:
        await http.send(sent)
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(http.reader.read(), 60)

    assert (await get(server, "/healthz")).status_code == 200


async def test_a_head_without_an_end_is_cut_off(start_server: StartServer):
    server = await start_server()

    async with RawHttp(server.port) as http:
        await http.send(b"GET /healthz HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            await asyncio.gather(*(http.send(b"x: y\r\n" * 1000) for _ in range(2000)))

    assert (await get(server, "/healthz")).status_code == 200


async def test_another_process_is_read_over_http(start_server: StartServer, registry: CollectorRegistry):
    other = CollectorRegistry()
    Gauge("adhere_judging", "Judging.", registry=other).set(2)
    evaluator = await start_server(sources={"evaluator": registry_source(other)}, token="t0ken")
    source = HttpMetricsSource(f"http://127.0.0.1:{evaluator.port}/metrics", token="t0ken")
    server = await start_server(sources={"collector": registry_source(registry), "evaluator": source})

    page = await get(server, "/metrics", accept="application/openmetrics-text")
    await source.close()

    found = {family.name: family.samples[0].value for family in parse_openmetrics(page.text)}
    assert (found["adhere_open"], found["adhere_judging"]) == (5, 2)


async def test_a_process_that_is_away_hides_no_other(start_server: StartServer, registry: CollectorRegistry):
    gone = await start_server()
    source = HttpMetricsSource(f"http://127.0.0.1:{gone.port}/metrics")
    await gone.shutdown(5)
    server = await start_server(sources={"collector": registry_source(registry), "evaluator": source})

    page = await get(server, "/metrics")
    await source.close()

    families = {family.name: family for family in parse_text(page.text)}
    assert page.status_code == 200
    assert families["adhere_open"].samples[0].value == 5
    assert {found.labels["source"]: found.value for found in families["adhere_metrics_source_up"].samples} == {
        "collector": 1,
        "evaluator": 0,
    }


async def test_a_process_that_hangs_is_given_up(
    start_server: StartServer, registry: CollectorRegistry, clock: ManualClock
):
    async def hang(_: ExpositionFormat) -> str:
        await asyncio.Event().wait()
        return ""

    server = await start_server(sources={"evaluator": hang, "collector": registry_source(registry)})
    asked = asyncio.ensure_future(get(server, "/metrics"))
    await until(lambda: clock.sleeper_count > 0)

    await clock.advance(6)
    page = await asked

    assert "adhere_open 5.0" in page.text
    assert 'adhere_metrics_source_up{source="evaluator"} 0.0' in page.text


@pytest.mark.parametrize(("path", "check"), [("/healthz", "alive"), ("/readyz", "ready")], ids=str)
async def test_probes_say_what_they_are_told(start_server: StartServer, path: str, check: str):
    state = {"good": True}
    server = await start_server(**{check: lambda: state["good"]})

    good = await get(server, path)
    state["good"] = False
    bad = await get(server, path)

    assert [(answer.status_code, answer.text) for answer in (good, bad)] == [(200, "ok\n"), (503, "no\n")]


async def test_a_check_that_breaks_fails_and_tells_nothing(start_server: StartServer):
    def broken() -> bool:
        raise ValueError("canary content")

    server = await start_server(ready=broken)

    answer = await get(server, "/readyz")

    assert (answer.status_code, answer.text) == (503, "no\n")


async def test_readiness_ends_with_the_drain_while_metrics_go_on(start_server: StartServer):
    server = await start_server()

    server.drain()

    assert (await get(server, "/readyz")).status_code == 503
    assert (await get(server, "/healthz")).status_code == 200
    assert (await get(server, "/metrics")).status_code == 200


async def test_start_and_shutdown_are_safe_twice_and_signals_are_left_alone(start_server: StartServer):
    before = signal.getsignal(signal.SIGTERM)
    server = await start_server()
    port = server.port

    await server.start()
    during = signal.getsignal(signal.SIGTERM)
    await server.shutdown(5)
    await server.shutdown(5)
    await server.start()

    assert server.port == port
    assert during == before
    with pytest.raises(httpx2.ConnectError):
        await get(server, "/healthz")


async def test_a_port_in_use_is_named(start_server: StartServer):
    taken = await start_server()

    with pytest.raises(ExporterConfigError, match=rf"127\.0\.0\.1:{taken.port} .*telemetry\.endpoint"):
        await start_server(port=taken.port)


async def test_a_page_of_another_process_that_is_no_success_is_an_error(start_server: StartServer):
    server = await start_server()
    source = HttpMetricsSource(f"http://127.0.0.1:{server.port}/nothing")

    with pytest.raises(RetryableError, match="404"):
        await source(ExpositionFormat.TEXT)

    await source.close()
