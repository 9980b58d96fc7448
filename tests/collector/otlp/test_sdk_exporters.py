"""The real Python SDK's exporters as clients of both receivers."""

from __future__ import annotations

import asyncio
import logging

import grpc
import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.errors import JournalFullError, MalformedRequestError
from collector.telemetry.decode import decode_logs, decode_traces
from collector.telemetry.records import Signal
from tests.support.appender import CollectingAppender, FailingAppender
from tests.support.receivers import grpc_receiver, http_receiver

RESOURCE = Resource.create({"service.name": "shop"})
HTTP_COMPRESSION = {"gzip": Compression.Gzip, "none": Compression.NoCompression}
GRPC_COMPRESSION = {"gzip": grpc.Compression.Gzip, "none": grpc.Compression.NoCompression}


def _recorded_spans():
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=RESOURCE)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test.tracer", "1.2")
    with tracer.start_as_current_span("invoke_agent"), tracer.start_as_current_span("chat") as chat:
        chat.set_attribute("gen_ai.input.messages", '[{"role":"user","content":"Où est ma commande?"}]')
        chat.add_event("first token", {"n": 1})
    provider.shutdown()
    return memory.get_finished_spans()


def _recorded_logs():
    memory = InMemoryLogRecordExporter()
    provider = LoggerProvider(resource=RESOURCE)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    provider.get_logger("test.logger").emit(
        LogRecord(
            timestamp=7,
            event_name="gen_ai.choice",
            body={"message": {"content": "ok"}},
            severity_number=SeverityNumber.INFO,
        )
    )
    records = memory.get_finished_logs()
    provider.shutdown()
    return records


def _assert_spans_arrived(appender, recorded):
    (body,) = appender.bodies(Signal.TRACES)
    found = {span.name: span for span in decode_traces(body)}
    assert set(found) == {"invoke_agent", "chat"}
    chat = found["chat"]
    sent = next(span for span in recorded if span.name == "chat")
    assert chat.trace_id == f"{sent.context.trace_id:032x}"
    assert chat.parent_span_id == found["invoke_agent"].span_id
    assert chat.attributes == dict(sent.attributes)
    assert chat.events[0].attributes == {"n": 1}
    assert (chat.resource.service_name, chat.scope.name, chat.scope.version) == ("shop", "test.tracer", "1.2")


def _assert_logs_arrived(appender):
    (body,) = appender.bodies(Signal.LOGS)
    (record,) = decode_logs(body)
    assert (record.event_name, record.body) == ("gen_ai.choice", {"message": {"content": "ok"}})
    assert record.scope.name == "test.logger"


async def _export(exporter, items):
    try:
        return await asyncio.to_thread(exporter.export, items)
    finally:
        await asyncio.to_thread(exporter.shutdown)


@pytest.mark.parametrize("compression", HTTP_COMPRESSION)
async def test_http_exporters(compression):
    appender, spans = CollectingAppender(), _recorded_spans()

    async with http_receiver(appender) as receiver:
        base = f"http://127.0.0.1:{receiver.port}/v1"
        options = {"compression": HTTP_COMPRESSION[compression]}
        result = await _export(HttpSpanExporter(f"{base}/traces", **options), spans)
        await _export(HttpLogExporter(f"{base}/logs", **options), _recorded_logs())

    assert result is SpanExportResult.SUCCESS
    _assert_spans_arrived(appender, spans)
    _assert_logs_arrived(appender)


@pytest.mark.parametrize("compression", GRPC_COMPRESSION)
async def test_grpc_exporters(compression):
    appender, spans = CollectingAppender(), _recorded_spans()

    async with grpc_receiver(appender) as receiver:
        options = {
            "endpoint": f"127.0.0.1:{receiver.port}",
            "insecure": True,
            "compression": GRPC_COMPRESSION[compression],
        }
        result = await _export(GrpcSpanExporter(**options), spans)
        await _export(GrpcLogExporter(**options), _recorded_logs())

    assert result is SpanExportResult.SUCCESS
    _assert_spans_arrived(appender, spans)
    _assert_logs_arrived(appender)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
async def test_a_permanent_refusal_is_never_tried_again(protocol, caplog):
    caplog.set_level(logging.CRITICAL)
    appender = FailingAppender(MalformedRequestError("Bad."))

    result = await _send_spans(protocol, appender)

    assert result is SpanExportResult.FAILURE
    assert appender.attempts == 1


@pytest.mark.parametrize("protocol", ["http", "grpc"])
async def test_a_retryable_refusal_is_tried_again_and_then_arrives(protocol, caplog):
    caplog.set_level(logging.CRITICAL)
    appender = _FullOnce(JournalFullError("Full.", retry_after_s=0.05))

    result = await _send_spans(protocol, appender)

    assert result is SpanExportResult.SUCCESS
    assert appender.attempts == 2
    assert len(appender.records) == 1


class _FullOnce(FailingAppender):
    async def append(self, signal, body):
        try:
            return await super().append(signal, body)
        finally:
            self.error = None


async def _send_spans(protocol, appender):
    if protocol == "http":
        async with http_receiver(appender) as receiver:
            return await _export(HttpSpanExporter(f"http://127.0.0.1:{receiver.port}/v1/traces"), _recorded_spans())
    async with grpc_receiver(appender) as receiver:
        exporter = GrpcSpanExporter(endpoint=f"127.0.0.1:{receiver.port}", insecure=True)
        return await _export(exporter, _recorded_spans())
