from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trustme
from prometheus_client import CollectorRegistry

from adhere.run.plan import relay_cursor
from adhere.run.relaying import KeptRelay
from collector.clock import SystemClock
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import JournalRecord
from collector.journal.reader import JournalReader
from collector.journal.settings import JournalSettings
from collector.journal.writer import JournalWriter
from collector.relay.destination import ClientTls, Destination
from collector.relay.metrics import RelayMetrics
from collector.telemetry.records import Signal
from tests.support.otlp_requests import REQUESTS
from tests.support.otlp_sink import OtlpSink
from tests.support.until import until


class HastyClock(SystemClock):
    """Real time, for what polls in threads; but who sleeps long only waits for the test to say so."""

    def __init__(self) -> None:
        self.sleeping: list[float] = []
        self.woken = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds < 10:
            await super().sleep(seconds)
            return
        self.sleeping.append(seconds)
        await self.woken.wait()


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[JournalWriter]:
    writer = JournalWriter(
        JournalSettings(directory=tmp_path / "journal"),
        cursors=["relay-backend"],
        clock=SystemClock(),
        metrics=JournalMetrics(CollectorRegistry()),
    )
    await writer.start()
    yield writer
    await writer.close(deadline_s=5)


def kept(
    destination: Destination, folder: Path, journal: JournalWriter, clock: SystemClock, *signals: str
) -> KeptRelay:
    registry = CollectorRegistry()
    assert relay_cursor(destination) == "relay-backend"
    return KeptRelay(
        destination,
        signals=signals or ("traces", "logs", "metrics"),
        open_reader=partial(
            JournalReader,
            folder / "journal",
            relay_cursor(destination),
            clock=clock,
            metrics=JournalMetrics(registry),
        ),
        dead_letters=folder / "dead-letters",
        metrics=RelayMetrics(registry),
        clock=clock,
        rng=random.Random(1),
    )


async def test_a_relay_that_cannot_be_opened_is_tried_again(tmp_path: Path, journal: JournalWriter) -> None:
    """Its certificates come later than it does, as when another service writes them."""
    clock = HastyClock()
    async with OtlpSink() as sink:
        authority = tmp_path / "ca.pem"
        secure = Destination("https://127.0.0.1:1", name="backend", tls=ClientTls(ca_file=authority))
        relay = kept(secure, tmp_path, journal, clock)
        running = asyncio.ensure_future(relay.run())
        await until(lambda: clock.sleeping == [30.0])

        trustme.CA().cert_pem.write_to_path(str(authority))
        relay._destination = replace(secure, endpoint=sink.http_url)
        await journal.append(Signal.TRACES, REQUESTS[Signal.TRACES])
        clock.woken.set()

        await sink.wait_for(lambda s: len(s.requests) == 1)
        await relay.shutdown(5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class FailsOnce(JournalReader):
    failed = False

    def read(self, *, max_bytes: int) -> Sequence[JournalRecord]:
        if not FailsOnce.failed:
            FailsOnce.failed = True
            raise ValueError("A defect.")
        return super().read(max_bytes=max_bytes)


async def test_a_relay_that_failed_gives_its_place_back_for_the_next_one(
    tmp_path: Path, journal: JournalWriter
) -> None:
    clock = HastyClock()
    async with OtlpSink() as sink:
        relay = kept(Destination(sink.http_url, name="backend"), tmp_path, journal, clock)
        relay._open_reader = partial(FailsOnce, *relay._open_reader.args, **relay._open_reader.keywords)  # type: ignore[attr-defined]
        running = asyncio.ensure_future(relay.run())
        await journal.append(Signal.TRACES, REQUESTS[Signal.TRACES])
        await until(lambda: clock.sleeping == [30.0])
        clock.woken.set()

        await sink.wait_for(lambda s: len(s.requests) == 1)
        await relay.shutdown(5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_only_the_signals_that_were_asked_for_go_on(tmp_path: Path, journal: JournalWriter) -> None:
    async with OtlpSink() as sink:
        relay = kept(Destination(sink.http_url, name="backend"), tmp_path, journal, SystemClock(), "logs", "metrics")
        running = asyncio.ensure_future(relay.run())
        for signal, body in REQUESTS.items():
            await journal.append(signal, body)

        await sink.wait_for(lambda s: len(s.requests) == 2)

        assert {request.signal for request in sink.requests} == {Signal.LOGS, Signal.METRICS}
        await relay.shutdown(5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_shutdown_is_safe_before_the_start(tmp_path: Path, journal: JournalWriter) -> None:
    relay = kept(Destination("http://127.0.0.1:1", name="backend"), tmp_path, journal, SystemClock())

    await relay.shutdown(1)
    await relay.run()
