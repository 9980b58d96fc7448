"""The evaluator's metrics, for the collector's `/metrics`: read over loopback from the port that it wrote down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.run.data_dir import DataDir
from collector.errors import RetryableError
from exporters.exposition import ExpositionFormat

if TYPE_CHECKING:
    from exporters.http_source import HttpMetricsSource


class PeerMetrics:
    """A MetricsSource. While the evaluator is down, or not there, reading raises RetryableError."""

    def __init__(self, data: DataDir) -> None:
        self._data = data
        self._url: str | None = None
        self._source: HttpMetricsSource | None = None

    async def __call__(self, wanted: ExpositionFormat) -> str:
        port = self._data.read_evaluator_port()
        if port is None:
            raise RetryableError("The evaluator is not running.")
        url = f"http://127.0.0.1:{port}/metrics"
        if self._source is None or url != self._url:
            # Loads an HTTP client, which takes a moment that the start should not wait for.
            from exporters.http_source import HttpMetricsSource  # noqa: PLC0415

            await self.close()
            self._url, self._source = url, HttpMetricsSource(url)
        return await self._source(wanted)

    async def close(self) -> None:
        if self._source is not None:
            await self._source.close()
            self._source = None
