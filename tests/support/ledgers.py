"""A judges' ledger on a real store in a folder, as a process would have it; it can be closed and opened again."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from collector.clock import Clock
from evaluators.store.ledger import StoredLedger
from evaluators.store.thread import StoreThread
from tests.support.clock import ManualClock


@contextlib.asynccontextmanager
async def ledger_in(folder: Path, clock: Clock | None = None, **options: Any) -> AsyncIterator[StoredLedger]:
    clock = clock or ManualClock()
    store = StoreThread(folder / "verdicts.sqlite", clock=clock)
    try:
        found = StoredLedger(store, clock=clock, **options)
        await found.start()
        yield found
    finally:
        store.close()
