"""One HTTP/1.1 connection: parser callbacks in, answers out, in order, one request at work at a time.

A request that its head refuses is answered without its body being kept: a short rest is read and thrown away so that
the connection lives on; a long one is answered at once, and the connection *lingers*: half open for a moment, so that
the client can read the answer instead of finding its connection reset.

There are no timers here: `deadline_s` says when the owner shall call `expire`.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import Any, Protocol

import httptools
import structlog

from collector.errors import (
    AdhereError,
    OverloadedError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
)
from collector.otlp import http_answer
from collector.otlp.access import CallerCheck
from collector.otlp.http_exchange import Exchange
from collector.otlp.http_head import Head, check_head
from collector.otlp.intake import Intake, MediaType
from collector.otlp.refusals import BadHttpError, HeadersTooLargeError, SlowRequestError
from collector.otlp.settings import HttpReceiverSettings
from collector.otlp.status import wire_status

log = structlog.get_logger(__name__)

TRANSPORT = "http"


class ConnectionOwner(Protocol):
    """What a connection knows of its receiver."""

    intake: Intake
    settings: HttpReceiverSettings
    caller: CallerCheck
    connections: set[HttpConnection]
    is_draining: bool

    def run(self, connection: HttpConnection) -> None:
        """Run `connection.answer_all()` in a task that the owner awaits."""

    def connection_closed(self, connection: HttpConnection) -> None: ...


class HttpConnection(asyncio.Protocol):
    def __init__(self, owner: ConnectionOwner) -> None:
        self.deadline_s = math.inf
        self._owner = owner
        self._settings = owner.settings
        self._limits = owner.intake.limits
        self._transport: Any = None
        self._parser: Any = httptools.HttpRequestParser(self)
        self._head: Head | None = None
        self._head_bytes = 0
        self._offering: Head | None = None
        """Of the request that offers an upgrade, between its two readings."""
        self._exchange: Exchange | None = None
        """The request whose body is arriving."""
        self._queue: deque[Exchange] = deque()
        """Complete requests, the first of which is at work."""
        self._is_deaf = False
        """What still arrives belongs to no request that will be answered."""
        self._is_last = False
        """The client has said that nothing more will come."""
        self._is_paused = False
        self._linger_end_s: float | None = None
        self._drain_left = 0

    # What the owner calls.

    @property
    def is_idle(self) -> bool:
        return not self._queue and self._exchange is None and self._head_bytes == 0 and self._linger_end_s is None

    def close_if_idle(self) -> None:
        """For shutdown: whoever has begun a request gets its answer, and the connection closes behind it."""
        if self._transport is not None and (self.is_idle or self._linger_end_s is not None):
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def expire(self) -> None:
        """The deadline has passed."""
        self.deadline_s = math.inf
        if self.is_idle or self._linger_end_s is not None:
            self._transport.close()
        else:
            self._cut(SlowRequestError("The request did not arrive in time; send it faster or in smaller batches."))

    async def answer_all(self) -> None:
        while self._queue:
            exchange = self._queue[0]
            answer = await self._answer(exchange)
            self._queue.popleft()
            if self._transport is None or self._transport.is_closing():
                continue  # The client has left; what it sent in full is kept all the same.
            self._transport.write(answer)
            if not self._keeps_alive(exchange):
                self._finish(exchange)
        if self._transport is None or self._transport.is_closing() or self._linger_end_s is not None:
            return
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        settings = self._settings
        if self._exchange is not None:
            self._wait(settings.body_timeout_s)
        else:
            self._wait(settings.header_timeout_s if self._head_bytes else settings.idle_timeout_s)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        count = len(self._owner.connections)
        self._owner.connections.add(self)
        if count >= 2 * self._limits.max_connections:
            self._transport.abort()
        elif count >= self._limits.max_connections:
            self._cut(
                OverloadedError(
                    f"All {self._limits.max_connections} connections are taken; connect again later.",
                    retry_after_s=self._limits.retry_after_s,
                )
            )
        elif self._owner.is_draining:
            self._transport.close()
        else:
            self._wait(self._settings.header_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature.
        self._transport = None
        self.deadline_s = math.inf
        if self._exchange is not None:
            if self._exchange.error is None:
                self._owner.intake.metrics.abandoned.labels(TRANSPORT).inc()
            self._exchange.release()
            self._exchange = None
        self._parser = None
        self._owner.connection_closed(self)

    def eof_received(self) -> bool:
        self._is_last = True
        # True keeps our half open: a client may send, say that it is done sending, and read the answer. TLS cannot.
        return bool(self._queue) and self._transport.get_extra_info("sslcontext") is None

    def pause_writing(self) -> None:
        # Answers are small: whoever leaves so many unread is not reading at all.
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            self._drain(len(data))
            return
        if self._exchange is None:
            if self._head_bytes == 0:
                self._wait(self._settings.header_timeout_s)
            self._head_bytes += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self._cut(BadHttpError("What arrived is no HTTP/1.1 request; send OTLP/HTTP to this port."))
            return
        if self._exchange is None and self._head_bytes > self._settings.max_header_bytes:
            self._cut(self._headers_too_large())
        if self._queue and not self._is_paused:
            # Behind the request at work at most one read's worth of further ones is kept.
            self._is_paused = True
            self._transport.pause_reading()

    def _parse(self, data: bytes) -> None:
        """An upgrade is an offer that nobody must take (RFC 9110, 7.8). httptools believes that a request which makes
        one has no body, so such a request is parsed once more, without the offer.
        """
        while True:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as paused:
                data = data[paused.args[0] :]
                if self._offering is not None:
                    data = self._offering.without_offer() + data
                    self._offering = None
            else:
                return

    # httptools callbacks; an exception must not leave them.

    def on_message_begin(self) -> None:
        self._head = Head()

    def on_url(self, url: bytes) -> None:
        if self._head is not None:
            self._head.target += url
            self._head.size += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:
            self._head.size += len(name) + len(value)
            if self._head.size <= self._settings.max_header_bytes:
                self._head.add(name, value)

    def on_headers_complete(self) -> None:
        head = self._head
        if head is None or self._is_deaf:
            return
        self._head, self._head_bytes = None, 0
        head.method = self._parser.get_method()
        head.version = self._parser.get_http_version()
        if self._parser.should_upgrade() and head.method != b"CONNECT" and head.size <= self._settings.max_header_bytes:
            self._offering = head
            return
        head.keep_alive = self._parser.should_keep_alive()
        self._exchange = exchange = Exchange(head)
        self._wait(self._settings.body_timeout_s)
        if head.size > self._settings.max_header_bytes:
            self._cut(self._headers_too_large())
            return
        try:
            exchange.target = check_head(
                head, caller=self._owner.caller, max_request_bytes=self._limits.max_request_bytes
            )
            exchange.ticket = self._owner.intake.admission.open()
        except (PermanentError, RetryableError) as err:
            exchange.refuse(err)
            if head.expects_continue or (head.content_length or 0) > self._settings.max_drain_bytes:
                self._cut(err)
            return
        if head.expects_continue and not self._queue:
            self._transport.write(http_answer.CONTINUE)

    def on_body(self, chunk: bytes) -> None:
        exchange = self._exchange
        if exchange is None or self._is_deaf:
            return
        try:
            exchange.add(chunk, max_bytes=self._limits.max_request_bytes)
        except (RequestTooLargeError, OverloadedError) as err:
            exchange.refuse(err)
        if exchange.error is not None:
            exchange.drained_bytes += len(chunk)
            if exchange.drained_bytes > self._settings.max_drain_bytes:
                self._cut(exchange.error)

    def on_message_complete(self) -> None:
        exchange = self._exchange
        if exchange is None or self._is_deaf:
            return
        self._exchange = None
        self._enqueue(exchange)

    # Answering

    def _enqueue(self, exchange: Exchange) -> None:
        self.deadline_s = math.inf
        self._queue.append(exchange)
        if len(self._queue) == 1:
            self._owner.run(self)

    def _cut(self, error: AdhereError) -> None:
        """Answer the request that is arriving with `error` now, and hear no more."""
        exchange = self._exchange or Exchange(self._head or Head())
        exchange.refuse(error)
        exchange.is_cut = True
        self._exchange, self._head = None, None
        self._is_deaf = True
        # Who could not show a token gets little of our time; for others, reading on means that their answer arrives.
        is_unknown = isinstance(error, UnauthenticatedError)
        self._drain_left = self._settings.max_drain_bytes if is_unknown else self._limits.max_request_bytes
        self._enqueue(exchange)

    async def _answer(self, exchange: Exchange) -> bytes:
        intake, media = self._owner.intake, exchange.head.answer_media
        if exchange.error is not None:
            return self._refusal(exchange.error, exchange, media)
        try:
            await exchange.take(intake, transport=TRANSPORT)
            answer = http_answer.success(media, keep_alive=self._keeps_alive(exchange))
        except (PermanentError, RetryableError) as err:
            answer = self._refusal(err, exchange, media)
        except Exception as err:  # A supervision point: one request that fails must not stop the service.
            log.exception("request failed", transport=TRANSPORT)
            answer = self._refusal(err, exchange, media)
        finally:
            exchange.release()
        return answer

    def _refusal(self, error: Exception, exchange: Exchange, media: MediaType) -> bytes:
        status = wire_status(error)
        self._owner.intake.metrics.count_refused(TRANSPORT, status)
        answer = http_answer.refusal(status, media, keep_alive=self._keeps_alive(exchange))
        # An answer to HEAD has no body.
        return answer[: answer.index(b"\r\n\r\n") + 4] if exchange.head.method == b"HEAD" else answer

    def _keeps_alive(self, exchange: Exchange) -> bool:
        is_closing = exchange.is_cut or self._is_last or self._owner.is_draining
        return exchange.head.keep_alive and not is_closing

    def _finish(self, exchange: Exchange) -> None:
        """Close behind an answer, at once if the client has sent all it had to send."""
        while self._queue:
            self._queue.popleft().release()
        if not exchange.is_cut:
            self._transport.close()
            return
        now_s = self._owner.intake.clock.monotonic_s()
        self._linger_end_s = now_s + self._settings.body_timeout_s
        self.deadline_s = now_s + self._settings.linger_s
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _drain(self, count: int) -> None:
        self._drain_left -= count
        if self._drain_left < 0:
            self._is_paused = True
            self._transport.pause_reading()
        elif self._linger_end_s is not None:
            now_s = self._owner.intake.clock.monotonic_s()
            self.deadline_s = min(now_s + self._settings.linger_s, self._linger_end_s)

    def _wait(self, seconds: float) -> None:
        if self._queue:
            return  # It is our turn; the client's time starts when it has its answer.
        self.deadline_s = self._owner.intake.clock.monotonic_s() + seconds

    def _headers_too_large(self) -> HeadersTooLargeError:
        return HeadersTooLargeError(
            f"The request's headers have more than {self._settings.max_header_bytes} bytes; send fewer of them."
        )
