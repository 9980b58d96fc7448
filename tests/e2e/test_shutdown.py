"""How the running sidecar ends: drained, in time, with nothing acknowledged lost (R30, R31, R32)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from collector.journal.metrics import JournalMetrics
from collector.journal.reader import JournalReader
from tests.support.adhere_process import AdhereProcess, is_alive
from tests.support.otlp_requests import trace_request
from tests.support.ports import free_port
from tests.support.raw_http import RawHttp, request
from tests.support.running_adhere import write_config
from tests.support.traffic import Oracle, Producer, Transport
from tests.support.until import until

pytestmark = pytest.mark.timeout(600)

TRANSPORTS: tuple[Transport, ...] = ("http", "grpc")
NEVER_S = 600
"""An orderly stop that nobody would wait for."""


def journaled(folder: Path) -> list[bytes]:
    reader = JournalReader(
        folder / "data" / "journal", "test", clock=SystemClock(), metrics=JournalMetrics(CollectorRegistry())
    )
    found: list[bytes] = []
    try:
        while records := reader.read(max_bytes=1 << 20):
            found += [record.body for record in records]
    finally:
        reader.close()
    return found


async def status(port: int, path: str) -> int | None:
    """None where nobody listens."""
    try:
        async with RawHttp(port) as http:
            await http.send(request(path, b"", method="GET", headers={"host": "127.0.0.1"}))
            return (await http.response()).status
    except OSError:
        return None


async def accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


class Unfinished:
    """A request of which half has been sent."""

    def __init__(self, http: RawHttp, body: bytes) -> None:
        self._http = http
        self._whole = request("/v1/traces", body)

    async def begin(self) -> None:
        await self._http.send(self._whole[:-10])

    async def finish(self) -> int:
        await self._http.send(self._whole[-10:])
        return (await self._http.response()).status


async def test_sigterm_answers_what_is_in_flight_and_loses_nothing(tmp_path: Path) -> None:
    ports = {name: free_port() for name in ("grpc", "http", "telemetry")}
    at = {name: {"endpoint": f"127.0.0.1:{port}"} for name, port in ports.items()}
    config = write_config(
        tmp_path, receivers={"grpc": at["grpc"], "http": at["http"]}, telemetry=at["telemetry"], evaluators=["rules"]
    )
    oracle, stop = Oracle(), asyncio.Event()
    async with AdhereProcess(config, as_command=True) as adhere:
        while (answered := await status(ports["telemetry"], "/readyz")) != 200:
            assert answered in {None, 503}
            assert adhere.returncode is None, adhere.output()
            await asyncio.sleep(0.02)
        assert await accepts(ports["http"])
        assert await accepts(ports["grpc"])
        await adhere.ready()
        loads = [asyncio.ensure_future(producer(transport, oracle, adhere).run(stop)) for transport in TRANSPORTS]
        await until(lambda: len(oracle.acked) >= 20, timeout_s=150)
        unfinished_body = trace_request(padding=1000)
        async with RawHttp(ports["http"]) as http:
            unfinished = Unfinished(http, unfinished_body)
            await unfinished.begin()

            adhere.signal(signal.SIGTERM)

            await gone(lambda: accepts(ports["http"]))
            assert await status(ports["telemetry"], "/readyz") == 503
            assert await status(ports["telemetry"], "/healthz") == 200
            assert await unfinished.finish() == 200
        assert await adhere.wait() == 0
        stop.set()
        for one in loads:
            one.cancel()
        await asyncio.gather(*loads, return_exceptions=True)

    found = journaled(tmp_path)
    assert oracle.cut == 0, "no response ends in its middle"
    assert unfinished_body in found
    assert set(oracle.acked) <= set(found) <= oracle.attempted | {unfinished_body}
    assert not (tmp_path / "data" / "addresses.json").exists()
    assert not (tmp_path / "data" / "evaluator.port").exists()


def producer(transport: Transport, oracle: Oracle, adhere: AdhereProcess) -> Producer:
    return Producer(transport, transport=transport, oracle=oracle, locate=adhere.data.read_addresses, seed=7, pause_s=0)


async def load(transport: Transport, oracle: Oracle, adhere: AdhereProcess, stop: asyncio.Event) -> None:
    async with producer(transport, oracle, adhere) as own:
        await own.run(stop)


async def gone(check: Callable[[], object]) -> None:
    async with asyncio.timeout(150):
        while await check():  # type: ignore[misc]  # an awaitable
            await asyncio.sleep(0.01)


async def test_a_second_sigterm_ends_at_once_and_loses_nothing(tmp_path: Path) -> None:
    oracle = Oracle()
    async with AdhereProcess(write_config(tmp_path, evaluators=["rules"], shutdown_s=NEVER_S)) as adhere:
        addresses = await adhere.ready()
        async with producer("http", oracle, adhere) as sending:
            for _ in range(5):
                await sending.send_one()
        children = adhere.children().values()
        port = int(str(addresses.http).rpartition(":")[2])
        async with RawHttp(port) as http:
            await Unfinished(http, trace_request()).begin()
            adhere.signal(signal.SIGTERM)
            await gone(lambda: accepts(port))

            adhere.signal(signal.SIGTERM)

            assert await adhere.wait(timeout_s=20) == 1
        assert not any(map(is_alive, children))

    assert set(oracle.acked) <= set(journaled(tmp_path))


async def test_it_drains_however_it_is_told(tmp_path: Path) -> None:
    """An init system may signal every process, beside what the supervisor does; a terminal signals its whole group."""

    def as_init_systems_do(adhere: AdhereProcess) -> None:
        for pid in [*adhere.children().values(), adhere.pid]:
            os.kill(pid, signal.SIGTERM)

    def as_terminals_do(adhere: AdhereProcess) -> None:
        os.killpg(adhere.pid, signal.SIGINT)

    folders = [tmp_path / "init", tmp_path / "terminal"]
    for folder in folders:
        folder.mkdir()
    await asyncio.gather(*map(_drains, folders, [as_init_systems_do, as_terminals_do]))


async def _drains(folder: Path, end: Callable[[AdhereProcess], None]) -> None:
    async with AdhereProcess(write_config(folder, evaluators=["rules"]), new_session=True) as adhere:
        await adhere.ready()

        end(adhere)

        assert await adhere.wait() == 0, adhere.output()
    assert adhere.output().count("stopping") == 2
    assert "Traceback" not in adhere.output()


async def test_it_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    async with AdhereProcess(write_config(tmp_path, evaluators=["rules"])) as adhere:
        await until(lambda: len(adhere.children()) == 2, timeout_s=150)
        children = adhere.children().values()

        assert await adhere.terminate() == 0

        assert not any(map(is_alive, children))
