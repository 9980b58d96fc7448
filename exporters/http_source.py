"""Another process's metrics, read from its operations port."""

from __future__ import annotations

import httpx2

from collector.errors import RetryableError
from exporters.exposition import ExpositionFormat

_MAX_BYTES = 32 << 20


class HttpMetricsSource:
    """A MetricsSource. Redirects are not followed, and the page is bounded."""

    def __init__(self, url: str, *, timeout_s: float = 4.0, token: str | None = None) -> None:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._url = url
        self._client = httpx2.AsyncClient(timeout=timeout_s, follow_redirects=False, headers=headers, trust_env=False)

    async def __call__(self, wanted: ExpositionFormat) -> str:
        page = bytearray()
        try:
            async with self._client.stream("GET", self._url, headers={"accept": wanted.value}) as response:
                if response.status_code != httpx2.codes.OK:
                    raise RetryableError(f"The metrics of another process answered {response.status_code}.")
                async for piece in response.aiter_bytes():
                    page += piece
                    if len(page) > _MAX_BYTES:
                        raise RetryableError(f"The metrics of another process are over {_MAX_BYTES} bytes.")
        except httpx2.HTTPError as err:
            raise RetryableError(f"The metrics of another process cannot be read ({type(err).__name__}).") from err
        return page.decode()

    async def close(self) -> None:
        await self._client.aclose()
