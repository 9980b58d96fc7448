"""What the stand-ins share: a server on loopback that records every call, checks credentials, and answers as told.

async with LangfuseStandIn() as langfuse:
    langfuse.script.append(Scripted(429, headers={"retry-after": "7"}))   # answers for the next calls
    ...                                                                   # send to langfuse.url
    assert langfuse.stored["id-1"]["value"] == 0.5
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import uvicorn
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


class Strict(BaseModel):
    """A request's body: unknown fields and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Scripted:
    """Answered instead of what the API would say; nothing is stored. `hangs`: no answer until the stand-in closes."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    when: bytes = b""
    """Only for a call whose body holds this; earlier calls are answered as ever."""


class RefusedError(Exception):
    def __init__(self, status: int, body: object) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class StandIn:
    credentials: ClassVar[Mapping[str, str]] = {}
    """Headers that every call must have."""

    def __init__(self) -> None:
        self.script: deque[Scripted] = deque()
        self.calls: list[Call] = []
        self.stored: dict[str, Any] = {}
        """By the API's own key: what a resend overwrites, and what it does not."""
        self._closing = asyncio.Event()
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.port = 0

    def routes(self) -> list[Route]:
        raise NotImplementedError

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def writes(self) -> list[Call]:
        return [call for call in self.calls if call.method in ("POST", "PUT", "PATCH")]

    async def __aenter__(self) -> Self:
        bound = socket.create_server(("127.0.0.1", 0))
        self.port = bound.getsockname()[1]
        app = Starlette(routes=self.routes())
        self._server = _Server(uvicorn.Config(self._guarded(app), log_config=None, lifespan="off", ws="none"))
        self._task = asyncio.create_task(self._server.serve(sockets=[bound]))
        await self._server.accepting.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._task is not None
        self._closing.set()
        self._server.should_exit = True
        self._server.force_exit = True
        await self._task

    def _guarded(self, app: Any) -> Any:
        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            request = Request(scope, receive)
            body = await request.body()
            headers = {key.lower(): value for key, value in request.headers.items()}
            call = Call(request.method, request.url.path, dict(request.query_params), headers, body)
            self.calls.append(call)
            response = await self._scripted(body) or self._refusal(headers)
            if response is None:
                response = await self._answer(app, scope, body)
            await response(scope, receive, send)

        return guarded

    async def _scripted(self, body: bytes) -> Response | None:
        if not self.script or self.script[0].when not in body:
            return None
        scripted = self.script.popleft()
        if scripted.hangs:
            await self._closing.wait()
        return JSONResponse(scripted.body, status_code=scripted.status, headers=dict(scripted.headers))

    def _refusal(self, headers: Mapping[str, str]) -> Response | None:
        wrong = [name for name, value in self.credentials.items() if headers.get(name) != value]
        return JSONResponse({"message": "Invalid credentials"}, status_code=401) if wrong else None

    async def _answer(self, app: Any, scope: Any, body: bytes) -> Response:
        sent: list[Any] = []
        pieces = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            return next(pieces)

        async def send(message: Any) -> None:
            sent.append(message)

        try:
            await app(scope, receive, send)
        except RefusedError as refused:
            return JSONResponse(refused.body, status_code=refused.status)
        except ValidationError as err:
            # As FastAPI does: the refused input stands in the answer.
            return JSONResponse({"detail": err.errors(include_url=False, include_context=False)}, status_code=422)
        start, *rest = sent
        raw = b"".join(message.get("body", b"") for message in rest)
        content_type = dict(start["headers"]).get(b"content-type", b"").decode() or None
        return Response(raw, status_code=start["status"], media_type=content_type)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.accepting.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
