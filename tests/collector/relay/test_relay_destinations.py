"""Several destinations behind one real journal, over real sockets, with outages and a restart."""

import asyncio
from collections import Counter

import pytest
from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from collector.journal.metrics import JournalMetrics
from collector.journal.reader import JournalReader
from collector.journal.settings import JournalSettings
from collector.journal.writer import JournalWriter
from collector.relay.destination import Destination
from collector.relay.retry import RetryPolicy
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import log_request, metric_request, trace_request
from tests.support.clock import ManualClock
from tests.support.journal import MemoryJournal
from tests.support.otlp_answers import Disconnect, Hang, Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.running_relay import RunningRelay
from tests.support.until import until

BODIES = [trace_request(f"span {n}") for n in range(100)]
QUICK = RetryPolicy(initial_s=0.01, max_s=0.05, min_s=0.001)


def fill(journal):
    for body in BODIES:
        journal.add(Signal.TRACES, body)


@pytest.mark.parametrize("fault", [Hang(), Refuse(), Disconnect()], ids=["hangs", "refuses", "cuts"])
async def test_one_dead_destination_does_not_delay_another(fault):
    journal = MemoryJournal()
    async with OtlpSink() as dead, OtlpSink() as healthy:
        dead.default = fault
        relays = [
            RunningRelay(name, reader=journal.reader(name), sender=open_sender(Destination(url)), clock=ManualClock())
            for name, url in (("dead", dead.http_url), ("healthy", healthy.http_url))
        ]
        async with relays[0], relays[1]:
            fill(journal)
            await healthy.wait_for(lambda s: len(s.traces) == 100)
            await until(lambda: relays[1].count("relayed_requests_total") == 100)

            assert journal.committed("dead").offset == 0
            assert relays[0].count("relayed_requests_total") == 0
            assert relays[0].count("in_flight_requests") == 10
            dead.release()

        assert journal.committed("healthy").offset == 100


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_after_an_outage_everything_arrives_oldest_first(protocol):
    journal = MemoryJournal()
    fill(journal)
    async with OtlpSink() as sink:
        ports = {"http_port": sink.http_port, "grpc_port": sink.grpc_port}
        url = sink.grpc_url if protocol == "grpc" else sink.http_url
    relay = RunningRelay(
        "d",
        reader=journal.reader("d"),
        sender=open_sender(Destination(url, protocol=protocol)),
        clock=SystemClock(),
        policy=QUICK,
    )
    async with relay:
        await until(lambda: relay.count("retries_total") >= 3)
        async with OtlpSink(**ports) as sink:
            await sink.wait_for(lambda s: len(s.traces) == 100)
            await until(lambda: relay.count("relayed_requests_total") == 100)

            received = sink.bodies(Signal.TRACES)
            assert sorted(received) == sorted(BODIES)
            assert received[0] == BODIES[0]


async def test_faults_of_every_kind_lose_nothing_and_only_lost_answers_repeat():
    journal = MemoryJournal()
    fill(journal)
    async with OtlpSink() as sink:
        faults = [Refuse(http_status=status) for status in (429, 502, 503, 504)]
        sink.script.extend([*faults, Disconnect(), Disconnect(stored=True), Refuse(retry_after="0")] * 3)
        relay = RunningRelay(
            "d",
            reader=journal.reader("d"),
            sender=open_sender(Destination(sink.http_url)),
            clock=SystemClock(),
            policy=QUICK,
        )
        async with relay:
            await until(lambda: relay.count("relayed_requests_total") == 100)

        times = Counter(sink.bodies(Signal.TRACES))
        assert set(times) == set(BODIES)
        assert sum(times.values()) == 100 + 3
        assert relay.count("retries_total") == 21


async def test_the_servers_retry_after_is_kept_to_over_a_socket():
    clock = ManualClock()
    journal = MemoryJournal()
    journal.add(Signal.TRACES, BODIES[0])
    async with OtlpSink() as sink:
        sink.script.append(Refuse(http_status=429, retry_after="17"))
        sender = open_sender(Destination(sink.http_url), clock=clock)
        async with RunningRelay("d", reader=journal.reader("d"), sender=sender, clock=clock) as relay:
            await until(lambda: relay.count("retries_total") == 1)
            await clock.advance(16.9)
            assert len(sink.requests) == 1

            await clock.advance(1.9)
            await sink.wait_for(lambda s: len(s.traces) == 1)


async def test_with_the_real_journal_over_a_restart(tmp_path):
    clock = SystemClock()
    metrics = JournalMetrics(CollectorRegistry())
    settings = JournalSettings(directory=tmp_path, segment_bytes=4096)
    requests = [
        request
        for n in range(40)
        for request in (
            (Signal.TRACES, trace_request(f"span {n}", padding=300)),
            (Signal.LOGS, log_request(f"log {n}")),
            (Signal.METRICS, metric_request(f"metric {n}")),
        )
    ]

    def relaying(sink):
        return RunningRelay(
            "relay-d",
            reader=JournalReader(tmp_path, "relay-d", clock=clock, metrics=metrics),
            sender=open_sender(Destination(sink.grpc_url, protocol="grpc")),
            clock=clock,
            policy=QUICK,
        )

    writer = JournalWriter(settings, cursors=["relay-d"], clock=clock, metrics=metrics)
    await writer.start()
    async with OtlpSink() as sink:
        async with relaying(sink):
            await asyncio.gather(*(writer.append(*request) for request in requests[:60]))
            await sink.wait_for(lambda s: len(s.requests) == 60)
        await asyncio.gather(*(writer.append(*request) for request in requests[60:]))
        async with relaying(sink) as relay:
            await sink.wait_for(lambda s: len(s.requests) >= 120)
            await until(lambda: relay.count("relayed_requests_total") == 60)
        await writer.collect()
        await writer.close(deadline_s=5.0)

        assert sorted((r.signal, r.body) for r in sink.requests) == sorted(requests)
    assert len(list(tmp_path.glob("*.segment"))) == 1
