"""A port that leads to another one, as a service's name, a load balancer or a mapped port does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def forwarding(target: Callable[[], int]) -> AsyncIterator[int]:
    """The port; `target` is asked with each connection."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", target())
        await asyncio.gather(_pump(reader, back), _pump(there, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
