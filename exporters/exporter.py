"""What an exporter is: something with a name that takes verdicts to one destination.

The outbox in front of it keeps, retries, splits and gives up; an exporter only says what came of one try. It may see a
verdict again with the same id, and should make that harmless where its destination can (overwrite by id).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from evaluators.verdict import Verdict


class Exporter(Protocol):
    @property
    def name(self) -> str:
        """Names the destination in the outbox, in metrics and in logs: stable across restarts, unique."""

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        """Return once the destination has all of them.

        Raises RetryableError when the same call may succeed later (nothing is assumed delivered), PermanentError when
        it never will (the batch is then split to find which verdict is refused), PartialExportError when some were
        delivered and some were not. May be cancelled at its deadline.
        """

    async def close(self) -> None:
        """Give back connections and files; safe twice."""


@runtime_checkable
class BackgroundExporter(Protocol):
    """An exporter with work of its own between batches, such as a periodic push."""

    async def run(self) -> None:
        """Runs until cancelled; whoever runs the exporter's deliveries owns this task as well."""
