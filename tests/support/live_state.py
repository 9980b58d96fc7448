"""The live state on real files with a clock that stands still: feed it, let time pass, kill it, open it again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client import CollectorRegistry

from collector.journal.protocol import JournalRecord, Position
from collector.live.metrics import LiveMetrics
from collector.live.ready import Ready
from collector.live.reconstruction import Reconstruction
from collector.live.settings import LiveConfig
from collector.live.standard import StandardReconstruction
from collector.live.tracker import ConversationTracker
from collector.telemetry.records import Signal
from tests.support.agent_telemetry import trace_body
from tests.support.clock import ManualClock
from tests.support.journal_records import RecordedJournal


class LiveHarness:
    def __init__(
        self, folder: Path, *, config: LiveConfig | None = None, reconstruction: Reconstruction | None = None
    ) -> None:
        self.path = folder / "live.db"
        self.config = config or LiveConfig()
        self.clock = ManualClock()
        self.journal = RecordedJournal()
        self.registry = CollectorRegistry()
        self.metrics = LiveMetrics(self.registry)
        self._reconstruction = reconstruction
        self.tracker = self._open()
        self._place: Position | None = None

    def _open(self) -> ConversationTracker:
        return ConversationTracker(
            self.path,
            reconstruction=self._reconstruction or StandardReconstruction(),
            clock=self.clock,
            metrics=self.metrics,
            config=self.config,
        )

    def restart(self) -> None:
        """As after a crash: nothing but the file is left."""
        self.tracker.close()
        self.tracker = self._open()
        self._place = self.tracker.position

    def receive(self, body: bytes, *, signal: Signal = Signal.TRACES) -> JournalRecord:
        """Acknowledged and in the journal, not yet read."""
        return self.journal.append(body, received_ns=self.clock.now_ns(), signal=signal)

    def read(self, records: Sequence[JournalRecord] | None = None) -> None:
        """Everything that was not read yet, in one batch."""
        if records is None:
            records = self.journal.after(self._place)
        self.tracker.ingest(records)
        if records:
            self._place = records[-1].next_position
        self.tracker.caught_up()

    def send(self, *spans: Span, service: str = "shop", scope: str = "test") -> None:
        self.receive(trace_body(spans, service=service, scope=scope))
        self.read()

    async def advance(self, seconds: float) -> None:
        await self.clock.advance(seconds)
        self.tracker.caught_up()

    def due(self, *, acknowledge: bool = True) -> list[Ready]:
        """All that is ready now."""
        found: list[Ready] = []
        while ready := self.tracker.due():
            found += ready
            if acknowledge:
                self.tracker.acknowledge(ready)
        return found

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    def close(self) -> None:
        self.tracker.close()


def keys_of(units: Iterable[Ready]) -> list[tuple[str, int]]:
    return [(unit.key.split(":", 1)[0], unit.revision) for unit in units]
