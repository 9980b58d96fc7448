"""Verdicts through the outbox to a real OTLP receiver, over HTTP and gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from collector.telemetry.records import Signal
from exporters.metrics import ExportMetrics
from exporters.outbox import DeliveryPolicy, Outbox, OutboxRunner
from exporters.registry import ExporterContext, build_exporters
from tests.support.attributes import plain
from tests.support.clock import ManualClock
from tests.support.otlp_answers import Accept, Disconnect, Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.until import advance_until, until
from tests.support.verdicts import SPAN_ID, TRACE_ID, verdict


class Sending:
    """An outbox with the exporters of one `otlp` entry, running."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.registry = CollectorRegistry()
        self.metrics = ExportMetrics(self.registry)
        self._folder = folder
        self._open: list[Any] = []

    async def start(self, **options: Any) -> None:
        context = ExporterContext(
            clock=self.clock,
            registry=self.registry,
            metrics=self.metrics,
            data_dir=self._folder,
            environ={},
            version="1.2.3",
            instance_id="host-1",
        )
        exporters = build_exporters("otlp", options, context=context)
        self.outbox = Outbox(
            self._folder / "outbox.db",
            destinations=[exporter.name for exporter in exporters],
            clock=self.clock,
            metrics=self.metrics,
        )
        self._open.append(self.outbox)
        await self.outbox.start()
        self.runner = OutboxRunner(
            exporters,
            outbox=self.outbox,
            clock=self.clock,
            random=Random(1),
            metrics=self.metrics,
            policy=DeliveryPolicy(max_backoff_s=1),
        )
        self._open.append(self.runner)
        await self.runner.start()

    async def stop(self) -> None:
        while self._open:
            await self._open.pop().shutdown(5)

    def retried(self) -> float:
        return sum(
            self.registry.get_sample_value("adhere_export_retried_total", {"exporter": name}) or 0
            for name in self.outbox.destinations
        )

    def backlog(self) -> int:
        return sum(self.outbox.backlog(name).rows for name in self.outbox.destinations)


@pytest.fixture
async def sending(tmp_path: Path) -> AsyncIterator[Sending]:
    found = Sending(tmp_path)
    yield found
    await found.stop()


@pytest.fixture
async def sink() -> AsyncIterator[OtlpSink]:
    async with OtlpSink() as found:
        yield found


def url(sink: OtlpSink, protocol: str) -> str:
    return sink.grpc_url if protocol == "grpc" else sink.http_url


@pytest.mark.parametrize(
    ("protocol", "compression"), [("http/protobuf", "none"), ("http/protobuf", "zstd"), ("grpc", "gzip")], ids=str
)
async def test_events_spans_and_metrics_arrive(sending: Sending, sink: OtlpSink, protocol: str, compression: str):
    await sending.start(
        endpoint=url(sink, protocol), protocol=protocol, compression=compression, headers={"x-api-key": "k3y"}
    )

    for number in range(3):
        await sending.outbox.put(verdict(f"v{number}"))
    await sink.wait_for(lambda found: len(found.log_records) == 3 and len(found.spans) == 3)
    await sending.stop()

    assert {plain(record.attributes)["adhere.verdict.id"] for record in sink.log_records} == {"v0", "v1", "v2"}
    assert {(record.trace_id.hex(), record.span_id.hex()) for record in sink.log_records} == {(TRACE_ID, SPAN_ID)}
    assert {(span.trace_id.hex(), span.parent_span_id.hex()) for span in sink.spans} == {(TRACE_ID, SPAN_ID)}
    counts = {
        metric.name: metric.sum.data_points[0].as_int
        for metric in sink.metric_points
        if metric.name == "adhere.verdicts"
    }
    assert counts == {"adhere.verdicts": 3}
    assert {request.headers["x-api-key"] for request in sink.requests} == {"k3y"}


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_an_outage_ends_in_delivery(sending: Sending, sink: OtlpSink, protocol: str):
    sink.script.extend([Refuse()] * 4)
    await sending.start(endpoint=url(sink, protocol), protocol=protocol, spans=False, metrics=False)

    await sending.outbox.put(verdict("v1"))
    for tries in range(1, 5):
        await until(lambda: sending.retried() == tries)  # noqa: B023 - awaited at once
        await advance_until(sending.clock, lambda: len(sink.requests) > tries)  # noqa: B023 - awaited at once
    await sink.wait_for(lambda found: len(found.log_records) == 1)
    await until(lambda: sending.backlog() == 0)

    assert sending.retried() == 4


async def test_a_lost_answer_leads_to_the_same_bytes_again(sending: Sending, sink: OtlpSink):
    sink.script.append(Disconnect(stored=True))
    await sending.start(endpoint=sink.http_url, protocol="http/protobuf", events=False, metrics=False)

    await sending.outbox.put(verdict("v1"))
    await until(lambda: sending.retried() == 1)
    await advance_until(sending.clock, lambda: len(sink.requests) == 2)
    await sink.wait_for(lambda found: len(found.requests) == 2)

    first, second = sink.bodies(Signal.TRACES)
    assert first == second
    assert sink.spans[0].span_id == sink.spans[1].span_id


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_a_backend_without_logs_still_gets_the_spans(sending: Sending, sink: OtlpSink, protocol: str):
    await sending.start(endpoint=url(sink, protocol), protocol=protocol, metrics=False)
    sink.default = Accept()
    answers = sink.receive

    async def no_logs(*, signal: Signal, **request: Any) -> Any:
        if signal is Signal.LOGS:
            return Refuse(http_status=404, grpc_code=grpc.StatusCode.UNIMPLEMENTED)
        return await answers(signal=signal, **request)

    sink.receive = no_logs  # type: ignore[method-assign]

    await sending.outbox.put(verdict("v1"))
    await until(lambda: sending.backlog() == 0)

    assert len(sink.spans) == 1
    assert [(letter.destination, letter.reason) for letter in await sending.outbox.dead_letters()] == [
        ("otlp/events", "rejected")
    ]


async def test_wrong_credentials_are_an_outage_and_lose_nothing(sending: Sending, sink: OtlpSink):
    sink.script.append(Refuse(http_status=401))
    await sending.start(endpoint=sink.http_url, protocol="http/protobuf", spans=False, metrics=False)

    await sending.outbox.put(verdict("v1"))
    await until(lambda: sending.retried() == 1)
    await advance_until(sending.clock, lambda: len(sink.requests) == 2)
    await sink.wait_for(lambda found: len(found.log_records) == 1)

    assert await sending.outbox.dead_letters() == []


async def test_a_batch_that_is_too_large_is_split(sending: Sending, sink: OtlpSink):
    await sending.start(endpoint=sink.http_url, protocol="http/protobuf", spans=False, metrics=False)
    taken = sink.receive

    async def small_only(*, body: bytes, **request: Any) -> Any:
        if len(body) > 12_000:
            return Refuse(http_status=413)
        return await taken(body=body, **request)

    sink.receive = small_only  # type: ignore[method-assign]

    for number in range(20):
        await sending.outbox.put(verdict(f"v{number}", reason="x" * 3000))
    await until(lambda: sending.backlog() == 0)

    assert {plain(record.attributes)["adhere.verdict.id"] for record in sink.log_records} == {
        f"v{number}" for number in range(20)
    }
    assert await sending.outbox.dead_letters() == []


async def test_rejected_items_of_a_partial_success_are_counted_and_not_resent(sending: Sending, sink: OtlpSink):
    sink.script.append(Accept(rejected=1, message="One is bad."))
    await sending.start(endpoint=sink.http_url, protocol="http/protobuf", spans=False, metrics=False)

    await sending.outbox.put(verdict("v1"))
    await until(lambda: sending.backlog() == 0)

    assert len(sink.requests) == 1
    assert sending.registry.get_sample_value("adhere_export_rejected_total", {"exporter": "otlp/events"}) == 1
