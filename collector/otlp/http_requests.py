"""Cuts what arrives on a connection into requests: heads bounded in bytes, bodies handed on as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httptools

from collector.otlp.http_head import Head
from collector.otlp.refusals import BadHttpError, HeadersTooLargeError


class RequestReader:
    """The names of httptools' callbacks are its own; an exception must not leave them."""

    def __init__(
        self,
        *,
        on_head: Callable[[Head], None],
        on_body: Callable[[bytes], None],
        on_end: Callable[[], None],
        max_header_bytes: int,
    ) -> None:
        """`on_head` also gets heads that are too large; `check_size` says so of them."""
        self.on_body = on_body
        self.on_message_complete = on_end
        self._on_head = on_head
        self._max_header_bytes = max_header_bytes
        self._head: Head | None = None
        self._offering: Head | None = None
        """Of the request that offers an upgrade, between its two readings."""
        self._parser: Any = httptools.HttpRequestParser(self)
        self.head_bytes = 0
        """What has arrived of a head that is not complete, and perhaps of what stands around it."""

    def feed(self, data: bytes) -> None:
        """Raises BadHttpError. An upgrade is an offer that nobody must take (RFC 9110, 7.8). httptools believes that a
        request which makes one has no body, so such a request is parsed once more, without the offer.
        """
        while True:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as paused:
                data = data[paused.args[0] :]
                if self._offering is not None:
                    data = self._offering.without_offer() + data
                    self._offering = None
                    # One that has seen `Connection: close`, or HTTP/1.0, takes nothing more.
                    self._parser = httptools.HttpRequestParser(self)
            except httptools.HttpParserError as err:
                raise BadHttpError("What arrived is no HTTP/1.1 request; send OTLP/HTTP to this port.") from err
            else:
                return

    def check_size(self, size: int) -> None:
        """Raises HeadersTooLargeError."""
        if size > self._max_header_bytes:
            raise HeadersTooLargeError(
                f"The request's headers have more than {self._max_header_bytes} bytes; send fewer of them."
            )

    def take_head(self) -> Head:
        """What there is of the head that is arriving, which goes no further."""
        head, self._head = self._head or Head(), None
        return head

    def close(self) -> None:
        """Parser and connection hold on to each other."""
        self._parser = None

    def on_message_begin(self) -> None:
        self._head = Head()

    def on_url(self, url: bytes) -> None:
        if self._head is not None:
            self._head.target += url
            self._head.size += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:
            self._head.size += len(name) + len(value)
            if self._head.size <= self._max_header_bytes:
                self._head.add(name, value)

    def on_headers_complete(self) -> None:
        head = self._head
        if head is None:
            return
        self._head, self.head_bytes = None, 0
        head.method = self._parser.get_method()
        head.version = self._parser.get_http_version()
        if self._parser.should_upgrade() and head.method != b"CONNECT" and head.size <= self._max_header_bytes:
            self._offering = head
            return
        head.keep_alive = self._parser.should_keep_alive()
        self._on_head(head)
