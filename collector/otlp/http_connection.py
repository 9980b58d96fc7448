"""One HTTP/1.1 connection: requests in, answers out, in order, one request at work at a time.

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
from collector.otlp.http_answering import TRANSPORT, answer
from collector.otlp.http_exchange import Exchange
from collector.otlp.http_head import Head, check_head
from collector.otlp.http_requests import RequestReader
from collector.otlp.intake import Intake
from collector.otlp.refusals import BadHttpError, HeadersTooLargeError, SlowRequestError
from collector.otlp.settings import HttpReceiverSettings


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
        self._requests = RequestReader(
            on_head=self._head_arrived,
            on_body=self._body_arrived,
            on_end=self._request_arrived,
            max_header_bytes=owner.settings.max_header_bytes,
        )
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
        return (
            not self._queue and self._exchange is None and self._requests.head_bytes == 0 and self._linger_end_s is None
        )

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
            sent = await answer(exchange, self._owner.intake, keeps_alive=self._keeps_alive)
            self._queue.popleft()
            if self._transport is None or self._transport.is_closing():
                continue  # The client has left; what it sent in full is kept all the same.
            self._transport.write(sent)
            if not self._keeps_alive(exchange):
                self._finish(exchange)
        if self._transport is None or self._transport.is_closing() or self._linger_end_s is not None:
            return
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        settings = self._settings
        if self._exchange is not None:
            self._continue(self._exchange)
            self._wait(settings.body_timeout_s)
        else:
            self._wait(settings.header_timeout_s if self._requests.head_bytes else settings.idle_timeout_s)

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
        self._requests.close()
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
        requests = self._requests
        if self._exchange is None:
            if requests.head_bytes == 0:
                self._wait(self._settings.header_timeout_s)
            requests.head_bytes += len(data)
        try:
            requests.feed(data)
            if self._exchange is None:
                requests.check_size(requests.head_bytes)
        except HeadersTooLargeError as err:
            self._cut(err)
        except BadHttpError as err:
            self._cut(err)
            return
        if self._queue and not self._is_paused:
            # Behind the request at work at most one read's worth of further ones is kept.
            self._is_paused = True
            self._transport.pause_reading()

    # What the reader of requests says; an exception must not leave these.

    def _head_arrived(self, head: Head) -> None:
        if self._is_deaf:
            return
        self._exchange = exchange = Exchange(head)
        self._wait(self._settings.body_timeout_s)
        try:
            self._requests.check_size(head.size)
        except HeadersTooLargeError as err:
            self._cut(err)
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
        self._continue(exchange)

    def _body_arrived(self, chunk: bytes) -> None:
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

    def _request_arrived(self) -> None:
        exchange = self._exchange
        if exchange is None or self._is_deaf:
            return
        self._exchange = None
        self._enqueue(exchange)

    # Answering

    def _continue(self, exchange: Exchange) -> None:
        """Ask for a body that waits to be asked for, once what came before it has its answer."""
        if exchange.head.expects_continue and not self._queue:
            self._transport.write(http_answer.CONTINUE)

    def _enqueue(self, exchange: Exchange) -> None:
        self.deadline_s = math.inf
        self._queue.append(exchange)
        if len(self._queue) == 1:
            self._owner.run(self)

    def _cut(self, error: AdhereError) -> None:
        """Answer the request that is arriving with `error` now, and hear no more."""
        exchange = self._exchange or Exchange(self._requests.take_head())
        exchange.refuse(error)
        exchange.is_cut = True
        self._exchange = None
        self._is_deaf = True
        # Who could not show a token gets little of our time; for others, reading on means that their answer arrives.
        is_unknown = isinstance(error, UnauthenticatedError)
        self._drain_left = self._settings.max_drain_bytes if is_unknown else self._limits.max_request_bytes
        self._enqueue(exchange)

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
