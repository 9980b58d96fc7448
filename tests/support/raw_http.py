"""An HTTP client that sends whatever bytes it is told to, broken ones too."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class RawResponse:
    status: int
    headers: dict[str, str]
    body: bytes


class RawHttp:
    """One connection to a loopback port; use as an async context manager."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.writer.close()
        with suppress(ConnectionError):  # How the server ends it is checked by the tests that care.
            await self.writer.wait_closed()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def post(
        self,
        path: str,
        body: bytes,
        *,
        content_type: str = "application/x-protobuf",
        headers: dict[str, str] | None = None,
    ) -> RawResponse:
        await self.send(request(path, body, content_type=content_type, headers=headers))
        return await self.response()

    async def response(self) -> RawResponse:
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return RawResponse(int(lines[0].split(" ")[1]), headers, body)

    async def is_closed(self) -> bool:
        """Wait for the server to close; True if it sent nothing more."""
        async with asyncio.timeout(10):
            return await self.reader.read() == b""


def request(
    path: str,
    body: bytes,
    *,
    method: str = "POST",
    content_type: str | None = "application/x-protobuf",
    headers: dict[str, str] | None = None,
) -> bytes:
    fields = {"host": "test", "content-length": str(len(body))}
    if content_type is not None:
        fields["content-type"] = content_type
    fields |= headers or {}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


async def post(port: int, path: str, body: bytes, **options: object) -> RawResponse:
    """One request on a connection of its own."""
    async with RawHttp(port) as http:
        return await http.post(path, body, **options)  # type: ignore[arg-type]  # Same keywords.
