"""Pooled connections to one server, in several small pools.

At each request and each response a pool looks at all of its idle connections, so one large pool costs more the more
connections it holds. The pools are used in order: the first ones stay warm, and the last ones close when load is low.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx2

_POOL_CONNECTIONS = 8


class Connections:
    def __init__(self, max_connections: int, *, client: Callable[[httpx2.Limits], httpx2.AsyncClient]) -> None:
        """Callers keep to `max_connections` requests at a time themselves."""
        sizes = [_POOL_CONNECTIONS] * (max_connections // _POOL_CONNECTIONS)
        rest = max_connections % _POOL_CONNECTIONS
        self._sizes = [*sizes, rest] if rest else sizes
        self._make = client
        self._clients: dict[int, httpx2.AsyncClient] = {}
        """Made when they are first needed, as each takes a moment."""
        self._in_flight = [0] * len(self._sizes)

    async def post(self, url: httpx2.URL, *, content: bytes, headers: dict[str, str]) -> httpx2.Response:
        chosen = self._free()
        self._in_flight[chosen] += 1
        try:
            return await self._client(chosen).post(url, content=content, headers=headers)
        finally:
            self._in_flight[chosen] -= 1

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    def _client(self, number: int) -> httpx2.AsyncClient:
        if number not in self._clients:
            size = self._sizes[number]
            limits = httpx2.Limits(max_connections=size, max_keepalive_connections=size, keepalive_expiry=30)
            self._clients[number] = self._make(limits)
        return self._clients[number]

    def _free(self) -> int:
        """The first pool with a connection to spare; else the last one, where the request waits."""
        for number, size in enumerate(self._sizes):
            if self._in_flight[number] < size:
                return number
        return len(self._sizes) - 1
