"""A store for one run of a command: what its judge has spent, and with a folder of its own what it answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adhere.run.data_dir import DataDir
from collector.clock import Clock
from evaluators.store.thread import StoreThread


@contextmanager
def run_store(folder: Path | None, *, clock: Clock) -> Iterator[tuple[DataDir, StoreThread]]:
    """Without a folder it is gone after the run, and a budget holds for the run alone."""
    with ExitStack() as stack:
        data = DataDir(folder or Path(stack.enter_context(TemporaryDirectory(prefix="adhere-"))))
        data.create()
        store = StoreThread(data.verdicts, clock=clock)
        stack.callback(store.close)
        yield data, store
