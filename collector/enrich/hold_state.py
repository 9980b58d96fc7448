"""What one destination's hold knows, on disk and in memory, kept in step: memory changes behind the file, never before.

A file that turns out to be unsound is set aside and a new one begins; memory is then read from that, so nothing of it
may be kept by a user beyond one call.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from collector.clock import Clock
from collector.enrich.deciding import Deciding
from collector.enrich.held_span import HeldSpan
from collector.enrich.held_spans import HeldSpans
from collector.enrich.leaving import Leaving
from collector.enrich.metrics import HoldMetrics
from collector.enrich.settings import HoldConfig
from collector.enrich.shapes import ShapeLedger
from collector.enrich.store import HoldStore
from collector.errors import RetryableError
from collector.sqlite_file import is_unsound


class HoldState:
    def __init__(self, name: str, path: Path, *, clock: Clock, metrics: HoldMetrics, config: HoldConfig) -> None:
        """Opens the file, or begins one. Raises HoldVersionError and sqlite3.Error."""
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._config = config
        self.lock = threading.RLock()
        self.store = HoldStore(path, now_ns=clock.now_ns())
        if self.store.was_unsound:
            metrics.set_aside.labels(name).inc()
        self._load()

    @contextmanager
    def safely(self) -> Iterator[None]:
        """One caller at a time, and SQLite's errors as one after which the call may be repeated."""
        with self.lock:
            try:
                yield
            except sqlite3.Error as err:
                self._metrics.failures.labels(self._name).inc()
                if is_unsound(err):
                    self._metrics.set_aside.labels(self._name).inc()
                    self.store.begin_anew(str(err), now_ns=self._clock.now_ns())
                    self._load()
                raise RetryableError(
                    f"The file of the spans held for {self._name} cannot be written ({err}); check the disk."
                ) from err

    def change(self, rows: Sequence[HeldSpan]) -> None:
        if rows:
            with self.store.transaction():
                self.store.change(rows)
                self.save_shapes()
            self.remember(rows)

    def save_shapes(self) -> None:
        """In the caller's transaction."""
        self.store.save_shapes(*self.deciding.shapes.take_changes())

    def remember(self, rows: Sequence[HeldSpan]) -> None:
        """Only behind the file."""
        for row in rows:
            self.held.put(row)

    def load_progress(self) -> None:
        """Which requests were cut, and which are done with."""
        self.cut, self.done = self.store.progress()

    def _load(self) -> None:
        self.held = HeldSpans(self.store.held())
        self.leaving = Leaving(self.store)
        self.deciding = Deciding(ShapeLedger(self.store.shapes()), config=self._config)
        self.load_progress()
