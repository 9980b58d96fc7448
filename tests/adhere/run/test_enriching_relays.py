from __future__ import annotations

import random
from pathlib import Path

from prometheus_client import CollectorRegistry

from adhere.config.receiving import RelayConfig
from adhere.run.data_dir import DataDir
from adhere.run.enriching_relays import EnrichingRelays
from adhere.run.stopping import Steps
from collector.clock import SystemClock
from collector.journal.metrics import JournalMetrics
from collector.relay.destination import Destination
from tests.support.holding import AGENT, Holding, span
from tests.support.otlp_sink import OtlpSink
from tests.support.until import until


async def send_what_is_left(folder: Path, sink: OtlpSink) -> Steps:
    shared = CollectorRegistry()
    relays = EnrichingRelays(
        DataDir(folder),
        clock=SystemClock(),
        rng=random.Random(1),
        journal_metrics=JournalMetrics(shared),
        registry=CollectorRegistry(),
        shared_registry=shared,
    )
    stopping = Steps(SystemClock())
    destination = Destination(sink.http_url, name="backend")
    await relays.send_what_is_left(destination, RelayConfig(name="backend"), stopping=stopping)
    return stopping


async def test_what_was_held_goes_on_where_a_relay_enriches_no_more(tmp_path: Path) -> None:
    holding = Holding(tmp_path)
    holding.arrive(span("agent", AGENT))
    assert holding.names() == []
    holding.hold.close()

    async with OtlpSink() as sink:
        first = await send_what_is_left(tmp_path, sink)
        await sink.wait_for(lambda s: [one.name for one in s.spans] == ["agent"])
        await first.run(5)
        second = await send_what_is_left(tmp_path, sink)
        await until(lambda: not list((tmp_path / "held").iterdir()))
        await second.run(5)

        assert len(sink.requests) == 1
