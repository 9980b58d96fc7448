"""A bound on HTTP responses: a judge that sends without end is cut off, not swallowed.

Compressed responses are not asked for. What comes as gzip all the same, from a proxy on the way, is unfolded up to the
bound, since a small body could unfold into any size; other forms are refused. It is a hook and no transport, so that
the client's proxies keep working.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

from evaluators.judge.errors import JudgeError, JudgeErrorType

NO_COMPRESSION = {"accept-encoding": "identity"}
_UNFOLDED = ("gzip", "x-gzip", "deflate")
_GZIP_OR_ZLIB = 47
_PIECE_BYTES = 64 * 1024


def bounded_responses(max_bytes: int, *, sender: str) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A response hook for `httpx2.AsyncClient`; `sender` begins the sentence of an error."""

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
        stream: httpx2.AsyncByteStream = _BoundedStream(response.stream, max_bytes, sender)
        if encoding in _UNFOLDED:
            stream = _BoundedStream(_UnfoldedStream(stream, sender), max_bytes, sender)
        elif encoding != "identity":
            raise _refused(f"{sender} sends its answer compressed, as was not asked for: turn that off there.")
        response.headers.pop("content-encoding", None)
        response.stream = stream

    return bound


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, max_bytes: int, sender: str) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self._sender = sender

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._max_bytes
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise _refused(f"{self._sender} sent more than {self._max_bytes} bytes.")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _UnfoldedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, sender: str) -> None:
        self._inner = inner
        self._sender = sender

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        try:
            async for chunk in self._inner:
                rest = chunk
                while rest:
                    yield inflate.decompress(rest, _PIECE_BYTES)
                    rest = inflate.unconsumed_tail
            yield inflate.flush()
        except zlib.error as err:
            raise _refused(f"{self._sender} sent what says that it is compressed and is not.") from err
        if not inflate.eof:
            raise _refused(f"{self._sender} hung up in the middle of its answer.")

    async def aclose(self) -> None:
        await self._inner.aclose()


def _refused(message: str) -> JudgeError:
    return JudgeError(JudgeErrorType.CONNECTION, message, may_be_billed=True)
