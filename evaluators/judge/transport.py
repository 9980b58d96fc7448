"""A bound on HTTP responses: a judge that sends without end is cut off, not swallowed.

Compressed responses are not asked for and not taken, since a small body could unfold into any size. It is a hook and no
transport, so that the client's proxies keep working.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

NO_COMPRESSION = {"accept-encoding": "identity"}


def bounded_responses(max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A response hook for `httpx2.AsyncClient`."""

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.RemoteProtocolError("The response is compressed and was not asked to be.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, max_bytes)

    return bound


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._inner = inner
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.RemoteProtocolError("The response is over its bound in bytes.")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
