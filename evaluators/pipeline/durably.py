"""Runs an operation on the store until the disk takes it.

A full or failing disk is waited for, visibly: what depends on the write has not happened, and who submits more waits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

import structlog

from collector.clock import Clock
from evaluators.errors import StoreUnavailableError
from evaluators.pipeline.metrics import PipelineMetrics
from evaluators.store.thread import StoreThread

T = TypeVar("T")
log = structlog.get_logger(__name__)

_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 30.0


class DurableStore:
    def __init__(self, store: StoreThread, *, clock: Clock, metrics: PipelineMetrics) -> None:
        self._store = store
        self._clock = clock
        self._metrics = metrics

    async def run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Raises what the operation itself raises; it may be run more than once."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return await self._store.run(operation)
            except StoreUnavailableError as err:
                self._metrics.store_failures.inc()
                log.warning("verdict store refuses writes", error=str(err), retry_in_s=pause_s)
                await self._clock.sleep(pause_s)
                pause_s = min(pause_s * 2, _MAX_PAUSE_S)
