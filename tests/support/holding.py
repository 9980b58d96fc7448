"""A hold between a journal in memory and whoever reads on, with spans that are short to write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client import CollectorRegistry

from collector.enrich.held_span import TurnTarget
from collector.enrich.hold import Hold
from collector.enrich.metrics import HoldMetrics
from collector.enrich.reader import HoldingReader
from collector.enrich.settings import HoldConfig
from collector.journal.protocol import JournalRecord
from collector.live.standard import StandardReconstruction
from collector.telemetry.records import Signal
from tests.support.agent_telemetry import trace_body
from tests.support.clock import ManualClock
from tests.support.journal import MemoryJournal

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "robin"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-1"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
HTTP = {"http.request.method": "POST"}


def span(name: str, attributes: dict[str, str], *, parent: str = "", trace: str = "t") -> Span:
    """Its id is made of its trace and name."""
    found = Span(
        trace_id=_id(trace, 16),
        span_id=_id(f"{trace}/{name}", 8),
        parent_span_id=_id(f"{trace}/{parent}", 8) if parent else b"",
        name=name,
        start_time_unix_nano=1,
        end_time_unix_nano=2,
    )
    for key, value in attributes.items():
        found.attributes.add(key=key).value.string_value = value
    return found


def target(name: str, *, trace: str = "t") -> TurnTarget:
    """A turn with this span as its target."""
    one = _id(trace, 16).hex(), _id(f"{trace}/{name}", 8).hex()
    return TurnTarget(*one, unit=f"turn:shop/{trace}:{one[0]}:{one[1]}", conversation=f"conversation:shop/{trace}")


@dataclass
class Holding:
    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)
    config: HoldConfig = field(default_factory=HoldConfig)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        self.journal = MemoryJournal()
        self._metrics = HoldMetrics(self.registry)
        self.open()

    def open(self) -> None:
        """Also anew on the same file, as after a kill: what was not committed is read again."""
        self.hold = Hold(
            "backend",
            self.folder / "held" / "backend.db",
            reconstruction=StandardReconstruction(),
            clock=self.clock,
            metrics=self._metrics,
            config=self.config,
        )
        self.reader = HoldingReader(self.journal.reader("relay-backend"), self.hold, clock=self.clock)

    def reopen(self) -> None:
        self.hold.close()
        self.open()

    def arrive(self, *spans: Span) -> None:
        self.arrive_body(Signal.TRACES, trace_body(spans))

    def arrive_body(self, signal: Signal, body: bytes) -> None:
        self.journal.now_ns = self.clock.now_ns()
        self.journal.add(signal, body)

    def read(self) -> list[JournalRecord]:
        return list(self.reader.read(max_bytes=1 << 20))

    def names(self) -> list[str]:
        """Of the spans that are read now."""
        return [one.name for one in spans_in(self.read())]

    async def after(self, seconds: float) -> list[str]:
        await self.clock.advance(seconds)
        return self.names()

    def count(self, outcome: str) -> float:
        labels = {"destination": "backend", "outcome": outcome}
        return self.registry.get_sample_value("adhere_enrich_spans_total", labels) or 0.0


def spans_in(records: Iterable[JournalRecord]) -> list[Span]:
    requests = [ExportTraceServiceRequest.FromString(record.body) for record in records]
    return [
        one for request in requests for group in request.resource_spans for s in group.scope_spans for one in s.spans
    ]


def attributes_of(one: Span) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "") for pair in one.attributes}


def _id(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
