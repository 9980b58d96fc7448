"""The operations port: serves metrics and probes, on loopback unless told otherwise.

Readiness is what the caller says, and false before the socket accepts and from the moment that `drain` or `shutdown` is
called. `start` and `shutdown` are safe twice and in any order.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import uvicorn

from collector.clock import Clock
from collector.waiting import end
from exporters.errors import ExporterConfigError
from exporters.exposition import MetricsSource
from exporters.operations_app import operations_app
from exporters.operations_connection import OperationsConnection

_MAX_CONNECTIONS = 64


class OperationsServer:
    def __init__(
        self,
        *,
        sources: Mapping[str, MetricsSource],
        alive: Callable[[], bool],
        ready: Callable[[], bool],
        clock: Clock,
        host: str = "127.0.0.1",
        port: int = 0,
        allowed_hosts: Iterable[str] = (),
        token: str | None = None,
        request_timeout_s: float = 30.0,
    ) -> None:
        """`sources` are read in order and named in `adhere_metrics_source_up`. A connection that asks nothing
        within `request_timeout_s` is closed.
        """
        self._ready = ready
        self._request_timeout_s = request_timeout_s
        self._host = host
        self._wanted_port = port
        self._app = operations_app(
            sources=sources,
            alive=alive,
            ready=self._is_ready,
            clock=clock,
            allowed_hosts=allowed_hosts,
            token=token,
        )
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._port = 0
        self._draining = False

    @property
    def port(self) -> int:
        """The port that was bound; 0 before the start."""
        return self._port

    async def start(self) -> None:
        """Return once the port accepts. Raises ExporterConfigError where it cannot be opened."""
        if self._task is not None or self._draining:
            return
        bound = self._bind()
        self._port = bound.getsockname()[1]
        self._server = _Server(
            uvicorn.Config(
                self._app,
                # typed for a class alone; what it is called with is the same
                http=partial(  # type: ignore[arg-type]
                    OperationsConnection, request_timeout_s=self._request_timeout_s, max_connections=_MAX_CONNECTIONS
                ),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=2 * _MAX_CONNECTIONS,
                timeout_keep_alive=30,
            )
        )
        self._task = asyncio.create_task(self._server.serve(sockets=[bound]), name="operations server")
        accepting = asyncio.ensure_future(self._server.accepting.wait())
        await asyncio.wait([self._task, accepting], return_when=asyncio.FIRST_COMPLETED)
        await end(accepting)
        if self._task.done():
            await self._task

    def drain(self) -> None:
        """Not ready from now on; metrics and probes are still answered."""
        self._draining = True

    async def shutdown(self, deadline_s: float) -> None:
        self._draining = True
        task, server = self._task, self._server
        if task is None or server is None:
            return
        self._task = None
        server.config.timeout_graceful_shutdown = max(1, math.floor(deadline_s))
        server.should_exit = True
        _, late = await asyncio.wait([task], timeout=deadline_s)
        if late:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def _is_ready(self) -> bool:
        return not self._draining and self._ready()

    def _bind(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            return socket.create_server((self._host, self._wanted_port), family=family, backlog=128)
        except OSError as err:
            reason = os.strerror(err.errno or 0)  # Its own text has the address once more.
            raise ExporterConfigError(
                f"The operations port {self._host}:{self._wanted_port} cannot be opened ({reason}); "
                "choose another telemetry.endpoint."
            ) from err


class _Server(uvicorn.Server):
    """Says when it accepts, and leaves signals to whoever runs the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.accepting.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
