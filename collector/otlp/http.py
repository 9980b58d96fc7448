"""OTLP over HTTP/1.1: `/v1/traces`, `/v1/logs`, `/v1/metrics`, in protobuf or JSON, plain, gzip, deflate or zstd.

A bare protocol on httptools instead of a web framework: limits on headers, time, connections and bytes then hold before
anything is kept, and a refusal reaches a client that is still sending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog

from collector.otlp.access import CallerCheck, check_bind
from collector.otlp.http_answering import TRANSPORT
from collector.otlp.http_connection import HttpConnection
from collector.otlp.intake import Intake
from collector.otlp.settings import HttpReceiverSettings
from collector.otlp.tls import ssl_context

log = structlog.get_logger(__name__)

_BACKLOG = 512
_SWEEP_S = 0.5


class HttpReceiver:
    def __init__(self, settings: HttpReceiverSettings, *, intake: Intake) -> None:
        self.settings = settings
        self.intake = intake
        self.caller = CallerCheck(settings)
        self.connections: set[HttpConnection] = set()
        self.is_draining = False
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        intake.metrics.connections.labels(TRANSPORT).set_function(lambda: len(self.connections))

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        if self._server is None or not self._server.sockets:
            return self.settings.port
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        """Listen. A second call does nothing; OSError says that the port is taken."""
        if self._server is not None:
            return
        check_bind(self.settings, transport=TRANSPORT)
        tls = self.settings.tls
        self._server = await asyncio.get_running_loop().create_server(
            lambda: HttpConnection(self),
            self.settings.host,
            self.settings.port,
            backlog=_BACKLOG,
            ssl=None if tls is None else ssl_context(tls),
            ssl_handshake_timeout=None if tls is None else self.settings.header_timeout_s,
        )
        self._sweeper = asyncio.create_task(self._sweep(), name="http receiver deadlines")
        log.info("receiver started", transport=TRANSPORT, host=self.settings.host, port=self.port)

    async def shutdown(self, deadline_s: float) -> None:
        """Stop accepting, answer what has begun to arrive within the time, then close what is left."""
        if self._server is None or self.is_draining:
            return
        self.is_draining = True
        self._server.close()
        for connection in list(self.connections):
            connection.close_if_idle()
        if self.connections:
            self._empty.clear()
            try:
                async with asyncio.timeout(deadline_s):
                    await self._empty.wait()
            except TimeoutError:
                log.warning("connections cut at shutdown", transport=TRANSPORT, connections=len(self.connections))
        for connection in list(self.connections):
            connection.abort()
        await _stop(self._answering)
        if self._sweeper is not None:
            await _stop([self._sweeper])
        await self._server.wait_closed()
        log.info("receiver stopped", transport=TRANSPORT)

    def run(self, connection: HttpConnection) -> None:
        task = asyncio.get_running_loop().create_task(connection.answer_all())
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def connection_closed(self, connection: HttpConnection) -> None:
        self.connections.discard(connection)
        if not self.connections:
            self._empty.set()

    async def _sweep(self) -> None:
        """One look at all deadlines twice a second costs less than a timer for every request."""
        clock = self.intake.clock
        while True:
            await clock.sleep(_SWEEP_S)
            now_s = clock.monotonic_s()
            for connection in [found for found in self.connections if found.deadline_s <= now_s]:
                connection.expire()


async def _stop(tasks: Iterable[asyncio.Task[None]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
