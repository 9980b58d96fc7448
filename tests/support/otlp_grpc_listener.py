"""The gRPC half of `OtlpSink`: the three Export methods on raw bytes, so that what is recorded is what was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

import grpc
import grpc.aio
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector.telemetry.records import Signal
from tests.support.otlp_answers import Accept, Disconnect, Hang, Refuse, export_response

if TYPE_CHECKING:
    from tests.support.otlp_sink import OtlpSink, ServerTls

SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Signal.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}


class GrpcListener:
    def __init__(self, sink: OtlpSink, *, port: int, tls: ServerTls | None, max_receive_bytes: int) -> None:
        self.port = port
        self._sink = sink
        self._tls = tls
        self._max_receive_bytes = max_receive_bytes
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        options = [("grpc.max_receive_message_length", self._max_receive_bytes), ("grpc.so_reuseport", 0)]
        self._server = grpc.aio.server(options=options)
        for signal, service in SERVICES.items():
            method = grpc.unary_unary_rpc_method_handler(self._export(signal, f"/{service}/Export"))
            self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {"Export": method})])
        address = f"127.0.0.1:{self.port}"
        if self._tls is None:
            self.port = self._server.add_insecure_port(address)
        else:
            credentials = grpc.ssl_server_credentials(
                [(self._tls.key, self._tls.certificate)],
                root_certificates=self._tls.client_ca,
                require_client_auth=self._tls.client_ca is not None,
            )
            self.port = self._server.add_secure_port(address, credentials)
        await self._server.start()

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop(grace=None)
            self._server = None

    def _export(
        self, signal: Signal, path: str
    ) -> Callable[[bytes, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]:
        async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            metadata = context.invocation_metadata() or ()
            headers = {name: value if isinstance(value, str) else value.hex() for name, value in metadata}
            answer = await self._sink.receive(
                signal=signal, transport="grpc", path=path, headers=headers, body=body, wire_bytes=len(body)
            )
            match answer:
                case Accept() | Hang():
                    return export_response(answer)
                case Disconnect():
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
                case Refuse():
                    await _refuse(context, answer)
            raise AssertionError("Abort raises.")

        return export


async def _refuse(context: grpc.aio.ServicerContext[bytes, bytes], answer: Refuse) -> NoReturn:
    trailing: tuple[tuple[str, bytes], ...] = ()
    if answer.retry_info_s is not None:
        status = Status(code=answer.grpc_code.value[0], message=answer.message)
        delay = Duration()
        delay.FromNanoseconds(int(answer.retry_info_s * 1e9))
        status.details.add().Pack(RetryInfo(retry_delay=delay))
        trailing = (("grpc-status-details-bin", status.SerializeToString()),)
    await context.abort(answer.grpc_code, answer.message, trailing)
