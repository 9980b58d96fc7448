"""A real OTLP receiver on loopback, over HTTP and gRPC at once, that records what it gets and answers as scripted.

    async with OtlpSink() as sink:
        sink.script.extend([Refuse(retry_after="2"), Accept()])   # one answer a request, in order; then `sink.default`
        ...                                                       # send to sink.http_url or sink.grpc_url
        await sink.wait_for(lambda s: len(s.spans) >= 3)
        assert sink.traces[0].resource_spans[0] ...

`traces`, `logs` and `metrics` hold the accepted requests, decoded; `requests` holds every request, refused ones too,
with headers and raw bodies. It runs on the caller's event loop, so start child processes with asyncio while it listens.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.telemetry.records import Signal
from tests.support.otlp_answers import Accept, Answer, Disconnect, Hang
from tests.support.otlp_grpc_listener import GrpcListener
from tests.support.otlp_http_listener import HttpListener


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM bytes. With `client_ca` every client must show a certificate of that authority."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    signal: Signal
    transport: Literal["http", "grpc"]
    path: str
    headers: Mapping[str, str]
    """Names in lower case; gRPC metadata likewise."""
    body: bytes
    """The protobuf message, decompressed."""
    wire_bytes: int
    """The body's size as it was sent; over gRPC the same as the message's, as the library hides the difference."""
    answer: Answer

    @property
    def accepted(self) -> bool:
        return isinstance(self.answer, Accept | Hang) or (isinstance(self.answer, Disconnect) and self.answer.stored)


class OtlpSink:
    def __init__(
        self,
        *,
        http_port: int = 0,
        grpc_port: int = 0,
        tls: ServerTls | None = None,
        grpc_max_receive_bytes: int = 64 << 20,
    ) -> None:
        """Port 0 takes a free one; a fixed port serves to come back after an outage."""
        self.script: deque[Answer] = deque()
        """Answers for the next requests, whatever transport they come by."""
        self.default: Answer = Accept()
        """The answer once the script is used up."""
        self.requests: list[ReceivedRequest] = []
        self._scheme = "http" if tls is None else "https"
        self._http = HttpListener(self, port=http_port, tls=tls)
        self._grpc = GrpcListener(self, port=grpc_port, tls=tls, max_receive_bytes=grpc_max_receive_bytes)
        self._changed = asyncio.Condition()
        self._released = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        await self._http.start()
        await self._grpc.start()

    async def close(self) -> None:
        """Cut every connection and stop listening; safe twice."""
        self.release()
        await self._http.close()
        await self._grpc.close()

    @property
    def http_port(self) -> int:
        return self._http.port

    @property
    def grpc_port(self) -> int:
        return self._grpc.port

    @property
    def http_url(self) -> str:
        """Base address; each signal is at `/v1/<signal>` below it."""
        return f"{self._scheme}://127.0.0.1:{self.http_port}"

    @property
    def grpc_url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.grpc_port}"

    def release(self) -> None:
        """Answer everything that hangs, and what would hang from now on."""
        self._released.set()

    async def wait_for(self, predicate: Callable[[OtlpSink], bool], *, timeout_s: float = 10.0) -> None:
        """Return as soon as the predicate holds; it is asked anew after each request."""
        try:
            async with asyncio.timeout(timeout_s), self._changed:
                await self._changed.wait_for(lambda: predicate(self))
        except TimeoutError as err:
            found = f"{len(self.requests)} requests, {len(self.spans)} spans, {len(self.log_records)} log records"
            raise AssertionError(f"Not fulfilled within {timeout_s} s: the sink has {found}.") from err

    def bodies(self, signal: Signal) -> list[bytes]:
        """Raw messages of the accepted requests, in order of arrival."""
        return [request.body for request in self.requests if request.accepted and request.signal is signal]

    @property
    def traces(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies(Signal.TRACES)]

    @property
    def logs(self) -> list[ExportLogsServiceRequest]:
        return [ExportLogsServiceRequest.FromString(body) for body in self.bodies(Signal.LOGS)]

    @property
    def metrics(self) -> list[ExportMetricsServiceRequest]:
        return [ExportMetricsServiceRequest.FromString(body) for body in self.bodies(Signal.METRICS)]

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def log_records(self) -> list[LogRecord]:
        return [
            record
            for request in self.logs
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    @property
    def metric_points(self) -> list[Metric]:
        return [
            metric
            for request in self.metrics
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]

    async def receive(
        self,
        *,
        signal: Signal,
        transport: Literal["http", "grpc"],
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        wire_bytes: int,
    ) -> Answer:
        """For the listeners: record a request and say what to answer. Returns late for a request that hangs."""
        answer = self.script.popleft() if self.script else self.default
        self.requests.append(ReceivedRequest(signal, transport, path, headers, body, wire_bytes, answer))
        async with self._changed:
            self._changed.notify_all()
        if isinstance(answer, Hang):
            await self._released.wait()
            return Accept()
        return answer
