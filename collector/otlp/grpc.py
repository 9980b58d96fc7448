"""OTLP over gRPC: the Export methods of the trace, logs and metrics services.

Messages pass as bytes, without protobuf classes. Every method is served as one that reads its requests itself, though
OTLP's clients send exactly one: so a caller without a token, or one too many, is answered before its message is read.
The size limit, gzip and HTTP/2's own protections are gRPC's.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import grpc
import grpc.aio
import structlog

from collector.errors import MalformedRequestError, PermanentError, RetryableError
from collector.otlp.access import CallerCheck, check_bind
from collector.otlp.intake import Intake
from collector.otlp.reading import ReadingPlaces
from collector.otlp.refusals import SlowRequestError
from collector.otlp.rpc_status import status_protobuf
from collector.otlp.settings import GrpcReceiverSettings, ReceiverLimits
from collector.otlp.status import WireStatus, wire_status
from collector.otlp.tls import grpc_credentials
from collector.sender_id import SENDER_HEADER
from collector.telemetry.records import Signal

if TYPE_CHECKING:
    _Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

log = structlog.get_logger(__name__)

TRANSPORT = "grpc"

_SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Signal.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_SUCCESS = b""
"""An empty Export*ServiceResponse: partial_success stays unset on full success."""


class GrpcReceiver:
    def __init__(self, settings: GrpcReceiverSettings, *, intake: Intake) -> None:
        self.settings = settings
        self._intake = intake
        self._caller = CallerCheck(settings)
        self._server: grpc.aio.Server | None = None
        self._is_stopped = False
        self._port = settings.port
        self._reading = ReadingPlaces(
            settings.max_reading,
            max_s=settings.message_timeout_s,
            contended_s=settings.contended_timeout_s,
            max_waiting=intake.limits.max_concurrent_requests,
            retry_after_s=intake.limits.retry_after_s,
        )

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        return self._port

    async def start(self) -> None:
        """Listen. A second call does nothing; OSError says that the port is taken, or why else it cannot be opened."""
        if self._server is not None:
            return
        settings = self.settings
        check_bind(settings, transport=TRANSPORT)
        server = grpc.aio.server(options=_options(settings, self._intake.limits))
        for signal, service in _SERVICES.items():
            handler: Any = grpc.stream_unary_rpc_method_handler(self._method(signal))
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Export": handler}),))
        address = f"[{settings.host}]:{settings.port}" if ":" in settings.host else f"{settings.host}:{settings.port}"
        credentials = None if settings.tls is None else grpc_credentials(settings.tls)
        try:
            if credentials is None:
                self._port = server.add_insecure_port(address)
            else:
                self._port = server.add_secure_port(address, credentials)
        except RuntimeError:  # gRPC says that it failed; the system says why.
            await _try_to_listen(settings.host, settings.port)
            raise
        await server.start()
        self._server = server
        log.info("receiver started", transport=TRANSPORT, host=settings.host, port=self._port)

    async def shutdown(self, deadline_s: float) -> None:
        """Stop accepting, answer what is in flight within the time, then cancel what is left."""
        if self._server is None or self._is_stopped:
            return
        self._is_stopped = True
        await self._server.stop(deadline_s)
        log.info("receiver stopped", transport=TRANSPORT)

    def _method(self, signal: Signal) -> Any:
        async def export(_messages: object, context: _Context) -> bytes:
            status = await self._taken(signal, context)
            if status is not None:
                # Outside of the except: the abort would hold the error, its frames, and so the message.
                await self._refuse(context, status)
            return _SUCCESS

        return export

    async def _refuse(self, context: _Context, status: WireStatus) -> None:
        try:
            await context.abort(status.grpc_code, status.message, trailing_metadata=_details(status))
        except grpc.aio.AbortError:
            self._intake.metrics.count_refused(TRANSPORT, status)
            raise
        except grpc.aio.InternalError as err:
            # Its deadline was over, or it went away: gRPC ends its messages as if it had sent them all.
            self._intake.metrics.abandoned.labels(TRANSPORT).inc()
            raise asyncio.CancelledError from err

    async def _taken(self, signal: Signal, context: _Context) -> WireStatus | None:
        """None once the request is kept, else why it is refused."""
        try:
            self._caller.check(
                authorization=_metadata(context, "authorization"), sender=_metadata(context, SENDER_HEADER)
            )
            with self._intake.admission.open() as ticket:
                body = await self._message(context)
                ticket.take_place()
                ticket.resize(len(body))
                await self._intake.take(signal, body, ticket=ticket, transport=TRANSPORT)
        except (PermanentError, RetryableError) as err:
            return wire_status(err)
        except grpc.RpcError:
            raise
        except Exception as err:  # A supervision point: one request that fails must not stop the service.
            log.exception("request failed", transport=TRANSPORT)
            return wire_status(err)
        return None

    async def _message(self, context: _Context) -> bytes:
        """Read from the context, since the iterator of messages would hold the last one as long as it lives."""
        try:
            async with self._reading.place():
                message: Any = await context.read()
        except TimeoutError as err:
            raise SlowRequestError("The request did not arrive in time; send it faster or in smaller batches.") from err
        except asyncio.CancelledError:
            self._intake.metrics.abandoned.labels(TRANSPORT).inc()
            raise
        if message is grpc.aio.EOF:
            raise MalformedRequestError("The call ended without a request; send one message.")
        return cast("bytes", message)


async def _try_to_listen(host: str, port: int) -> None:
    for family, kind, protocol, _, address in await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)


def _details(status: WireStatus) -> tuple[tuple[str, bytes], ...]:
    """RetryInfo travels in the status details."""
    return () if status.retry_delay_s is None else (("grpc-status-details-bin", status_protobuf(status)),)


def _metadata(context: _Context, name: str) -> bytes | None:
    for key, value in context.invocation_metadata() or ():
        if key == name:
            return value.encode() if isinstance(value, str) else value
    return None


def _options(settings: GrpcReceiverSettings, limits: ReceiverLimits) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", limits.max_request_bytes),
        ("grpc.max_metadata_size", settings.max_metadata_bytes),
        ("grpc.absolute_max_metadata_size", settings.max_metadata_bytes),
        ("grpc.max_concurrent_streams", settings.max_streams_per_connection),
        ("grpc.max_allowed_incoming_connections", limits.max_connections),
        ("grpc.max_connection_idle_ms", _milliseconds(settings.idle_timeout_s)),
        ("grpc.keepalive_time_ms", _milliseconds(settings.keepalive_s)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", _milliseconds(settings.min_ping_interval_s)),
        # Two processes on one port would each get a part of the traffic, unnoticed.
        ("grpc.so_reuseport", 0),
    ]


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
