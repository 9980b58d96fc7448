"""The open database with everything that reads and writes it, and the one way to change it: a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector.live.batch_writer import BatchWriter
from collector.live.content_reader import ContentReader
from collector.live.contents import Contents
from collector.live.database import open_database
from collector.live.evaluation import Evaluation
from collector.live.kept_components import KeptComponents
from collector.live.known_traces import KnownTraces
from collector.live.metrics import LiveMetrics
from collector.live.pace_store import PaceStore
from collector.live.poison import PoisonStore
from collector.live.reconstruction import Reconstruction
from collector.live.retention import Retention
from collector.live.settings import LiveConfig
from collector.live.staging import Staging
from collector.live.store import StateStore
from collector.live.trace_waits import TraceWaits
from collector.live.units import UnitStore
from collector.sqlite_file import set_aside


class LiveState:
    def __init__(
        self, path: Path, *, reconstruction: Reconstruction, config: LiveConfig, metrics: LiveMetrics, now_ns: int
    ) -> None:
        opened = open_database(path, cache_bytes=config.cache_bytes // 2, set_aside_at_ns=now_ns)
        if opened.set_aside is not None:
            metrics.set_aside.inc()
        self._path = path
        self.database = opened.connection
        self.store = StateStore(self.database)
        self.traces = KnownTraces(self.store, cache_bytes=config.cache_bytes // 8)
        self.contents = Contents(self.database, cache_bytes=config.cache_bytes // 4)
        self.reader = ContentReader(self.database, cache_bytes=config.cache_bytes // 8)
        self.units = UnitStore(self.database)
        self.paces = PaceStore(self.database, cache_bytes=config.cache_bytes // 16)
        self.poison = PoisonStore(self.database, max_items=config.poison_items, max_bytes=config.poison_bytes)
        self.kept_components = KeptComponents(
            self.store, self.reader, reconstruction=reconstruction, cache_bytes=config.cache_bytes // 2
        )
        self.staging = Staging(
            self.store,
            self.contents,
            self.reader,
            reconstruction=reconstruction,
            cache_bytes=config.cache_bytes // 8,
            metrics=metrics,
        )
        self.batches = BatchWriter(
            self.store,
            traces=self.traces,
            contents=self.contents,
            staging=self.staging,
            waits=TraceWaits(self.paces, rules=config.readiness, metrics=metrics),
            kept=self.kept_components,
            max_conversation_bytes=config.max_conversation_bytes,
            metrics=metrics,
        )
        self.evaluation = Evaluation(
            self.store,
            self.reader,
            self.units,
            self.paces,
            self.kept_components,
            reconstruction=reconstruction,
            config=config.readiness,
        )
        self.retention = Retention(self.store, max_age_s=config.retention_s, max_bytes=config.max_bytes)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, in memory too: after a failure nothing is remembered that is not in the file."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            if self.database.in_transaction:
                self.database.execute("ROLLBACK")
            self.contents.roll_back()
            self.forget()
            raise

    def forget(self) -> None:
        """Drop what is cached."""
        self.contents.forget()
        self.reader.forget()
        self.paces.forget()
        self.traces.forget()
        self.staging.forget()
        self.batches.forget()
        self.kept_components.forget()

    def set_aside(self, reason: str, *, now_ns: int) -> None:
        """Close, and move the file out of the way."""
        self.database.close()
        set_aside(self._path, reason=reason, now_ns=now_ns)

    def close(self) -> None:
        """Safe twice."""
        self.database.close()
