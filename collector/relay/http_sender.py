"""OTLP over HTTP: one POST of protobuf a request, on one pool of connections.

One try, bounded in time from connecting to the end of the answer; redirects are not followed, and at most 4 MiB of an
answer are read. It does not retry.
"""

from __future__ import annotations

import asyncio
import json
import ssl

import httpx2
import zstandard
from isal import igzip

from collector.clock import Clock
from collector.errors import PermanentError, RetryableError
from collector.relay.destination import Compression, Destination, DestinationError
from collector.relay.echo import without_echo
from collector.relay.partial_success import OnRejected, PartialSuccessLog
from collector.relay.refusal import http_error, printable, retry_after_s, status_text
from collector.telemetry.records import Signal

MAX_RESPONSE_BYTES = 4 << 20

_PROTOBUF = "application/x-protobuf"
_THREAD_FROM_BYTES = 128 << 10
"""Compressing this much takes about as long as handing it to a thread is worth."""


class HttpSender:
    def __init__(
        self, destination: Destination, *, clock: Clock, on_rejected: OnRejected, max_connections: int = 16
    ) -> None:
        self._name = destination.name
        self._timeout_s = destination.timeout_s
        self._compression = destination.compression
        self._urls = {signal: destination.url(signal) for signal in destination.signals}
        self._clock = clock
        self._secrets = tuple(destination.headers.values())
        self._partial = PartialSuccessLog(destination, clock=clock, on_rejected=on_rejected)
        headers = {"user-agent": "adhere", **destination.headers, "content-type": _PROTOBUF}
        # The answer is read raw, so that its size on the wire is its size in memory.
        headers["accept-encoding"] = "identity"
        if destination.compression != "none":
            headers["content-encoding"] = destination.compression
        self._client = httpx2.AsyncClient(
            headers=headers,
            verify=_ssl_context(destination),
            follow_redirects=False,
            # The bound of the whole try is below; this one frees the pool where a server takes no data.
            timeout=httpx2.Timeout(destination.timeout_s),
            limits=httpx2.Limits(
                max_connections=max_connections, max_keepalive_connections=max_connections, keepalive_expiry=30.0
            ),
        )

    async def send(self, signal: Signal, body: bytes) -> None:
        url = self._urls.get(signal)
        if url is None:
            raise PermanentError(f"The destination {self._name} has no address for {signal}.")
        payload = await self._compressed(body)
        try:
            async with asyncio.timeout(self._timeout_s):
                response, content = await self._post(url, payload)
        except (TimeoutError, httpx2.TimeoutException) as err:
            raise RetryableError(f"The destination {self._name} did not answer within {self._timeout_s} s.") from err
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as err:
            raise PermanentError(f"The request to {self._name} cannot be sent ({type(err).__name__}).") from err
        except (httpx2.RequestError, ssl.SSLError, OSError) as err:
            raise RetryableError(f"The destination {self._name} cannot be reached ({type(err).__name__}).") from err
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
        await self._client.aclose()

    async def _post(self, url: str, payload: bytes) -> tuple[httpx2.Response, bytes]:
        request = self._client.build_request("POST", url, content=payload)
        response = await self._client.send(request, stream=True)
        content = bytearray()
        try:
            async for chunk in response.aiter_raw(1 << 16):
                content += chunk
                if len(content) > MAX_RESPONSE_BYTES:
                    content.clear()  # Cut in the middle it would say anything but what was meant.
                    break
        finally:
            await response.aclose()
        return response, bytes(content)

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


def _ssl_context(destination: Destination) -> ssl.SSLContext:
    tls = destination.tls
    if not any((destination.url(signal) or "").startswith("https:") for signal in destination.signals):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # Never used; loading the system's CAs takes time and memory.
    try:
        if tls.ca_file is not None:
            context = ssl.create_default_context(cafile=tls.ca_file)
        else:
            context = httpx2.create_ssl_context()
        if tls.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if tls.cert_file is not None:
            context.load_cert_chain(tls.cert_file, tls.key_file)
    except (OSError, ssl.SSLError) as err:
        files = ", ".join(str(path) for path in (tls.ca_file, tls.cert_file, tls.key_file) if path is not None)
        raise DestinationError(
            f"The TLS files of the destination {destination.name} ({files}) cannot be loaded; give readable PEM files."
        ) from err
    return context
