"""OTLP over HTTP: one POST of protobuf a request. One try a request, by the rules of `http_client`."""

from __future__ import annotations

import asyncio
import json

import zstandard
from isal import igzip

from collector.clock import Clock
from collector.errors import PermanentError
from collector.relay.destination import Compression, Destination
from collector.relay.echo import without_echo
from collector.relay.http_client import HttpClient
from collector.relay.partial_success import OnRejected, PartialSuccessLog
from collector.relay.refusal import http_error, printable, retry_after_s, status_text
from collector.telemetry.records import Signal

_PROTOBUF = "application/x-protobuf"
_THREAD_FROM_BYTES = 128 << 10
"""Compressing this much takes about as long as handing it to a thread is worth."""


class HttpSender:
    def __init__(
        self, destination: Destination, *, clock: Clock, on_rejected: OnRejected, max_connections: int = 16
    ) -> None:
        self._name = destination.name
        self._compression = destination.compression
        self._urls = {signal: destination.url(signal) for signal in destination.signals}
        self._clock = clock
        self._secrets = tuple(destination.headers.values())
        self._partial = PartialSuccessLog(destination, clock=clock, on_rejected=on_rejected)
        headers = {**destination.headers, "content-type": _PROTOBUF}
        if destination.compression != "none":
            headers["content-encoding"] = destination.compression
        self._client = HttpClient(
            destination, who=f"The destination {self._name}", headers=headers, max_connections=max_connections
        )

    async def send(self, signal: Signal, body: bytes) -> None:
        url = self._urls.get(signal)
        if url is None:
            raise PermanentError(f"The destination {self._name} has no address for {signal}.")
        payload = await self._compressed(body)
        response, content = await self._client.send("POST", url, content=payload)
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_success:
            if content_type == _PROTOBUF:
                self._partial.note(signal, content, sent=body)
            return
        raise http_error(
            response.status_code,
            server=f"The destination {self._name}",
            text=without_echo(printable(_refusal_text(content_type, content)), sent=body, secrets=self._secrets),
            retry_after_s=retry_after_s(response.headers.get("retry-after"), now_ns=self._clock.now_ns()),
        )

    async def close(self) -> None:
        await self._client.close()

    async def _compressed(self, body: bytes) -> bytes:
        if self._compression == "none":
            return body
        if len(body) < _THREAD_FROM_BYTES:
            return _compress(body, self._compression)
        return await asyncio.to_thread(_compress, body, self._compression)


def _compress(body: bytes, compression: Compression) -> bytes:
    if compression == "gzip":
        compressed: bytes = igzip.compress(body)
        return compressed
    return zstandard.ZstdCompressor().compress(body)


def _refusal_text(content_type: str, content: bytes) -> str:
    """The `message` of the Status, in protobuf as the specification asks, or in JSON; no other text is trusted."""
    if content_type == _PROTOBUF:
        return status_text(content)
    if content_type == "application/json":
        try:
            status = json.loads(content)
        except (ValueError, RecursionError):
            return ""
        message = status.get("message") if isinstance(status, dict) else None
        return message if isinstance(message, str) else ""
    return ""
