"""OTLP over gRPC: one unary Export call a request, on one channel a server, with the request's bytes as they are.

One try, bounded in time. It does not retry, and neither does the library below it. Compression happens in that library,
on the event loop's thread: about 10 ms a MiB.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import grpc
import grpc.aio

from collector.clock import Clock
from collector.errors import PermanentError
from collector.relay.destination import GRPC_PORT, Destination, DestinationError
from collector.relay.echo import without_echo
from collector.relay.partial_success import OnRejected, PartialSuccessLog
from collector.relay.refusal import grpc_error, printable, retry_info_s
from collector.telemetry.records import Signal

MAX_RESPONSE_BYTES = 4 << 20

METHODS = {
    Signal.TRACES: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    Signal.LOGS: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    Signal.METRICS: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}

_Export: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"


class GrpcSender:
    def __init__(self, destination: Destination, *, clock: Clock, on_rejected: OnRejected) -> None:
        self._name = destination.name
        self._timeout_s = destination.timeout_s
        self._secrets = tuple(destination.headers.values())
        self._partial = PartialSuccessLog(destination, clock=clock, on_rejected=on_rejected)
        self._metadata: Sequence[tuple[str, str | bytes]] = tuple(
            (name, value.encode() if name.endswith("-bin") else value) for name, value in destination.headers.items()
        )
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._exports: dict[Signal, _Export] = {}
        for signal in sorted(destination.signals):
            url = destination.url(signal) or ""
            if url not in self._channels:
                self._channels[url] = _channel(url, destination)
            self._exports[signal] = self._channels[url].unary_unary(METHODS[signal])

    async def send(self, signal: Signal, body: bytes) -> None:
        export = self._exports.get(signal)
        if export is None:
            raise PermanentError(f"The destination {self._name} has no address for {signal}.")
        try:
            response = await export(body, timeout=self._timeout_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as err:
            details = next((value for key, value in err.trailing_metadata() if key == "grpc-status-details-bin"), None)
            raise grpc_error(
                err.code(),
                server=f"The destination {self._name}",
                text=without_echo(printable(err.details() or ""), sent=body, secrets=self._secrets),
                retry_after_s=retry_info_s(details if isinstance(details, bytes) else None),
            ) from err
        self._partial.note(signal, response, sent=body)

    async def close(self) -> None:
        """Cuts calls that are under way; safe twice."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))


def _channel(url: str, destination: Destination) -> grpc.aio.Channel:
    parts = urlsplit(url)
    target = parts.netloc if parts.port else f"{parts.netloc}:{443 if parts.scheme == 'https' else GRPC_PORT}"
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MAX_RESPONSE_BYTES),
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_retries", 0),
        ("grpc.primary_user_agent", "adhere"),
        # Ours decides when to try; the library's own pause between connects must not add up to minutes.
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.min_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 2000),
        # A connection that died without a word is noticed.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # Each sender has its own connections: closing one never cuts another's.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    compression = grpc.Compression.Gzip if destination.compression == "gzip" else grpc.Compression.NoCompression
    if parts.scheme == "http":
        return grpc.aio.insecure_channel(target, options=options, compression=compression)
    return grpc.aio.secure_channel(target, _credentials(destination), options=options, compression=compression)


def _credentials(destination: Destination) -> grpc.ChannelCredentials:
    tls = destination.tls
    return grpc.ssl_channel_credentials(
        root_certificates=_pem(tls.ca_file, destination),
        private_key=_pem(tls.key_file, destination),
        certificate_chain=_pem(tls.cert_file, destination),
    )


def _pem(path: Path | None, destination: Destination) -> bytes | None:
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as err:
        raise DestinationError(
            f"The TLS file {path} of the destination {destination.name} cannot be read; give a readable PEM file."
        ) from err
    if b"-----BEGIN" not in content:
        raise DestinationError(f"The TLS file {path} of the destination {destination.name} is not PEM.")
    return content
