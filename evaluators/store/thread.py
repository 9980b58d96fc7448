"""One thread owns the store's connection; what arrives while it commits shares the next commit.

An operation is a function of the connection. It runs in a savepoint, so one that raises undoes its own writes and no
one else's. `run` returns after the commit: what it wrote is on disk. The queue needs no bound of its own, since each
caller waits for its operation and callers are bounded.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from collector.clock import Clock
from evaluators.errors import StoreUnavailableError
from evaluators.store.opening import open_database

T = TypeVar("T")
_Operation = Callable[[sqlite3.Connection], object]
_MAX_BATCH = 256


class _Request:
    __slots__ = ("error", "future", "loop", "operation", "value")

    def __init__(self, operation: _Operation) -> None:
        self.operation = operation
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[object] = self.loop.create_future()
        self.value: object = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        if self.future.cancelled():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class StoreThread:
    """Opens the file at once, so that a start fails early and in the caller's face."""

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self.path = path
        self._connection = open_database(path, clock=clock)
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._closing = False
        # What is put behind the end is never served, and `close` may run in another thread.
        self._gate = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="verdict-store", daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Raises what the operation raises, and `StoreUnavailableError` for what the disk refuses."""
        request = _Request(operation)
        with self._gate:
            if self._closing:
                raise StoreUnavailableError(f"The verdict store {self.path} is closed.")
            self._requests.put(request)
        return await request.future  # type: ignore[return-value]  # The operation's own value comes back.

    def close(self) -> None:
        """Finish what was asked for, then close the file; safe twice."""
        with self._gate:
            if not self._closing:
                self._closing = True
                self._requests.put(None)
        self._thread.join()

    def _serve(self) -> None:
        try:
            while self._serve_batch():
                pass
        finally:
            self._connection.close()

    def _serve_batch(self) -> bool:
        batch: list[_Request] = []
        going = True
        request = self._requests.get()
        while True:
            if request is None:
                going = False
                break
            batch.append(request)
            if len(batch) == _MAX_BATCH or self._requests.empty():
                break
            request = self._requests.get()
        if batch:
            self._commit(batch)
            _settle(batch)
        return going

    def _commit(self, batch: list[_Request]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")  # It waits for who writes beside; a later write would not.
            for request in batch:
                self._apply(request)
            self._connection.execute("COMMIT")
        except sqlite3.Error as err:
            failure = StoreUnavailableError(f"The verdict store {self.path} refused a write: {err}.")
            failure.__cause__ = err
            for request in batch:
                request.error = request.error or failure
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _apply(self, request: _Request) -> None:
        self._connection.execute("SAVEPOINT operation")
        try:
            request.value = request.operation(self._connection)
        except sqlite3.DataError as err:
            request.error = err
        except sqlite3.OperationalError:
            raise  # Full, locked or broken: the whole batch shares this fate.
        except BaseException as err:  # noqa: BLE001 - handed to the caller, who awaits it
            request.error = err
        if request.error is not None:
            self._connection.execute("ROLLBACK TO operation")
        self._connection.execute("RELEASE operation")


def _settle(batch: list[_Request]) -> None:
    """Each loop is woken once, however many of its operations were in the batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
    for request in batch:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, requests in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_each, requests)
        except RuntimeError:  # The caller's loop is closed: nobody waits for this answer any more.
            continue


def _settle_each(requests: list[_Request]) -> None:
    for request in requests:
        request.settle()
