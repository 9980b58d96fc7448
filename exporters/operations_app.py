"""What the operations port answers: `/metrics`, `/healthz`, `/readyz`; nothing that changes anything, no content.

A Host header that is a name must be a known one, so that a web page cannot reach the port through a name of its own
(addresses and localhost are always known; `*` knows every name). With a token, `/metrics` asks for it; probes never
need one.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Mapping

import structlog
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.clock import Clock
from collector.waiting import within
from exporters.crash import log_crash
from exporters.exposition import ExpositionFormat, MetricsSource, merge, wanted_format

log = structlog.get_logger(__name__)

_SOURCE_UP = "adhere_metrics_source_up"
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def operations_app(
    *,
    sources: Mapping[str, MetricsSource],
    alive: Callable[[], bool],
    ready: Callable[[], bool],
    clock: Clock,
    allowed_hosts: Iterable[str] = (),
    token: str | None = None,
    source_timeout_s: float = 5.0,
) -> Starlette:
    async def metrics(request: Request) -> Response:
        if token is not None and not _has_token(request, token):
            return PlainTextResponse(
                "Unauthorized\n", status_code=401, headers={**_HEADERS, "www-authenticate": "Bearer"}
            )
        wanted = wanted_format(request.headers.get("accept", ""))
        read = {
            name: await _read(name, source, wanted, clock=clock, timeout_s=source_timeout_s)
            for name, source in sources.items()
        }
        texts = [text for text in read.values() if text is not None]
        up = {name: text is not None for name, text in read.items()}
        page = merge([*texts, _sources_up(up)], wanted=wanted)
        return Response(page, headers={**_HEADERS, "content-type": wanted.value})

    def probe(name: str, check: Callable[[], bool]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            good = _holds(name, check)
            return PlainTextResponse("ok\n" if good else "no\n", status_code=200 if good else 503, headers=_HEADERS)

        return answer

    return Starlette(
        routes=[
            Route("/metrics", metrics),
            Route("/healthz", probe("healthz", alive)),
            Route("/readyz", probe("readyz", ready)),
        ],
        middleware=[Middleware(KnownHosts, names=frozenset(host.lower() for host in allowed_hosts))],
    )


class KnownHosts:
    def __init__(self, app: ASGIApp, *, names: frozenset[str]) -> None:
        self._app = app
        self._names = names | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._knows(Headers(scope=scope).get("host", "")):
            response = PlainTextResponse("Unknown host.\n", status_code=421, headers=_HEADERS)
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        if not host:
            return True
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return "*" in self._names or name.lower().rstrip(".") in self._names
        return True


async def _read(
    name: str, source: MetricsSource, wanted: ExpositionFormat, *, clock: Clock, timeout_s: float
) -> str | None:
    async def read() -> str:
        return await source(wanted)

    try:
        return await within(timeout_s, read(), clock=clock)
    except Exception as err:  # noqa: BLE001 - supervision point: one process that is away must not hide the others' metrics
        log_crash(log, "metrics source failed", err, source=name)
        return None


def _holds(name: str, check: Callable[[], bool]) -> bool:
    try:
        return check()
    except Exception as err:  # noqa: BLE001 - supervision point: a check that breaks is a check that fails
        log_crash(log, "health check crashed", err, check=name)
        return False


def _sources_up(up: Mapping[str, bool]) -> str:
    lines = [
        f"# HELP {_SOURCE_UP} Whether the metrics of this process could be read.",
        f"# TYPE {_SOURCE_UP} gauge",
        *(f'{_SOURCE_UP}{{source="{name}"}} {1.0 if is_up else 0.0}' for name, is_up in up.items()),
    ]
    return "\n".join(lines)


def _has_token(request: Request, token: str) -> bool:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
