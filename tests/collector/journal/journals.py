"""Opens journals for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from prometheus_client import CollectorRegistry

from collector.clock import Clock
from collector.journal.files import Files
from collector.journal.metrics import JournalMetrics
from collector.journal.open_segment import Entry
from collector.journal.protocol import JournalRecord, Position
from collector.journal.reader import JournalReader
from collector.journal.segment_log import SegmentLog
from collector.journal.settings import Compression, Durability, JournalSettings
from collector.telemetry.records import Signal
from tests.support.clock import ManualClock
from tests.support.unsynced_files import UnsyncedFiles

SEGMENT_BYTES = 4096
MAX_BYTES = 64 * 1024


@dataclass
class Journal:
    """A journal's directory, and what opens it; one registry over all that was opened."""

    directory: Path
    files: Files = field(default_factory=UnsyncedFiles)
    clock: Clock = field(default_factory=ManualClock)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    cursors: Sequence[str] = ("evaluator",)
    yielding: Sequence[str] = ()
    max_bytes: int = MAX_BYTES
    segment_bytes: int = SEGMENT_BYTES
    compression: Compression = "never"
    durability: Durability = "full"
    max_aside_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        self.metrics = JournalMetrics(self.registry)

    @property
    def settings(self) -> JournalSettings:
        return JournalSettings(
            directory=self.directory,
            max_bytes=self.max_bytes,
            segment_bytes=self.segment_bytes,
            compression=self.compression,
            durability=self.durability,
            max_aside_bytes=self.max_aside_bytes,
        )

    def open_log(self) -> SegmentLog:
        log = SegmentLog(
            self.settings,
            cursors=self.cursors,
            yielding=self.yielding,
            clock=self.clock,
            metrics=self.metrics,
            files=self.files,
            random=Random(7),
        )
        log.open()
        return log

    def open_reader(self, name: str = "evaluator") -> JournalReader:
        return JournalReader(
            self.directory,
            name,
            clock=self.clock,
            metrics=self.metrics,
            max_aside_bytes=self.max_aside_bytes,
            files=self.files,
        )

    def read_bodies(self, name: str = "evaluator") -> list[bytes]:
        """All that a fresh reader of this name finds; commits nothing."""
        reader = self.open_reader(name)
        try:
            return [record.body for record in drain(reader)]
        finally:
            reader.close()

    def write(self, *bodies: bytes) -> list[Position]:
        """Open, append one by one, close."""
        log = self.open_log()
        try:
            return [append(log, body) for body in bodies]
        finally:
            log.close()

    def value(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"adhere_journal_{name}", labels or None) or 0.0

    def total(self, name: str) -> float:
        """Over all labels."""
        return sum(
            sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if sample.name == f"adhere_journal_{name}"
        )

    def segment_paths(self) -> list[Path]:
        return sorted(self.directory.glob("*.segment"))


def append(log: SegmentLog, *bodies: bytes, signal: Signal = Signal.TRACES) -> Position:
    """One group; the position of its last record."""
    return log.append([Entry(signal=signal, body=body, received_ns=1) for body in bodies])[-1]


def drain(reader: JournalReader, *, max_bytes: int = 10_000) -> list[JournalRecord]:
    records: list[JournalRecord] = []
    while found := reader.read(max_bytes=max_bytes):
        records.extend(found)
    return records
