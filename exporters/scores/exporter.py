"""An exporter to a backend's score API: sends what the backend has a form for, counts what it has none for.

The outbox in front of it decides on retries; a backend only knows its calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from evaluators.verdict import Verdict
from exporters.errors import PartialExportError
from exporters.metrics import ExportMetrics


class ScoreBackend(Protocol):
    def why_not(self, verdict: Verdict) -> str | None:
        """Why the backend has no form for this verdict, in a word for a metric; None where it has one."""

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        """As `Exporter.export`, for verdicts that it has a form for; never called without one."""

    async def close(self) -> None:
        """Safe twice."""


@runtime_checkable
class ReadableBackend(Protocol):
    """A backend whose API gives back what was written."""

    async def find(self, verdict: Verdict) -> str | None:
        """A phrase on where the verdict's score stands; None if it is not there, or not there yet."""


class ScoreExporter:
    def __init__(self, name: str, backend: ScoreBackend, *, metrics: ExportMetrics) -> None:
        self.name = name
        self.backend = backend
        self._skipped = metrics.skipped

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        reasons = {verdict.id: self.backend.why_not(verdict) for verdict in verdicts}
        wanted = [verdict for verdict in verdicts if reasons[verdict.id] is None]
        try:
            if wanted:
                await self.backend.send(wanted)
        except PartialExportError:
            # What is not named in it counts as delivered: what there is no form for is among that.
            self._count(reasons)
            raise
        self._count(reasons)

    async def close(self) -> None:
        await self.backend.close()

    def _count(self, reasons: dict[str, str | None]) -> None:
        for reason in reasons.values():
            if reason is not None:
                self._skipped.labels(self.name, reason).inc()
