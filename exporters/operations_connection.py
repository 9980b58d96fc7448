"""A connection to the operations port, with what uvicorn lacks: bounds on who asks nothing.

uvicorn waits for ever for a request, takes headers without an end, and refuses everybody while too many connections are
open. Probes must not fail for that: a request has its time and its size, and a new connection over the bound takes the
place of the one that has asked nothing for longest.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MAX_HEAD_BYTES = 64 << 10


class OperationsConnection(HttpToolsProtocol):
    def __init__(self, *args: Any, request_timeout_s: float, max_connections: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self._request_timeout_s = request_timeout_s
        self._max_connections = max_connections
        self._waiting: asyncio.TimerHandle | None = None
        """Set while no request is at work."""
        self._head_bytes = 0

    @property
    def expires_s(self) -> float:
        """On the loop's clock; never while a request is at work."""
        return math.inf if self._waiting is None else self._waiting.when()

    def give_way(self) -> None:
        """To another, unless a request is at work."""
        if self._waiting is not None:
            self._stop_waiting()
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # As in uvicorn.
        super().connection_made(transport)
        self._wait()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waiting is not None:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES:
                self.transport.abort()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._stop_waiting()
        self._head_bytes = 0
        self._waiting = self.loop.call_later(self._request_timeout_s, self._expire)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _expire(self) -> None:
        self._waiting = None
        if self.cycle is not None and not self.cycle.response_complete:
            return  # One that came behind another is at work.
        self.transport.abort()

    def _make_room(self) -> None:
        if len(self.connections) <= self._max_connections:
            return
        others = [other for other in self.connections if isinstance(other, OperationsConnection) and other is not self]
        longest = min(others, key=lambda other: other.expires_s, default=self)
        longest.give_way()
