"""Verdicts on disk until every destination has them.

`put` returns once the verdict is durable, and does nothing for an id that it already knows, so that a replay hands the
same verdict over as often as it likes. Each destination has its own delivery state: one that hangs or refuses delays no
other, and fills its own bound only. A crash between sending and noting it leads to the same verdict, with the same id,
being sent again.

All SQLite work runs on one thread; puts that arrive while it is busy share the next commit.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import structlog

from collector.clock import Clock
from collector.sqlite_file import is_unsound
from evaluators.verdict import Verdict
from exporters.errors import ExporterConfigError, OutboxUnavailableError
from exporters.metrics import ExportMetrics
from exporters.outbox.codec import UndecodableVerdictError, decode_verdict, encode_verdict
from exporters.outbox.policy import Backlog, ClaimedVerdict, DeadLetter, DeadLetterReason, OutboxLimits
from exporters.outbox.store import OutboxStore

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_MAX_WAITING_PUTS = 256


class Outbox:
    def __init__(
        self,
        path: Path,
        *,
        destinations: Sequence[str],
        clock: Clock,
        metrics: ExportMetrics,
        limits: OutboxLimits | None = None,
    ) -> None:
        if len(set(destinations)) != len(destinations):
            twice = sorted({name for name in destinations if destinations.count(name) > 1})
            raise ExporterConfigError(f"Two exporters are named {twice[0]!r}; give one of them another name.")
        self._limits = limits or OutboxLimits()
        self._store = OutboxStore(path, destinations=destinations, limits=self._limits)
        self._destinations = tuple(destinations)
        self._clock = clock
        self._metrics = metrics
        self._arrivals = {name: asyncio.Event() for name in destinations}
        self._waiting: list[tuple[str, bytes, asyncio.Future[bool]]] = []
        self._slots = asyncio.Semaphore(_MAX_WAITING_PUTS)
        self._committing = False
        self._executor: ThreadPoolExecutor | None = None

    @property
    def destinations(self) -> tuple[str, ...]:
        return self._destinations

    async def start(self) -> None:
        """Open the file; a corrupt one is set aside. Raises OutboxUnavailableError and OutboxVersionError."""
        if self._executor is not None:
            return
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="outbox")
        try:
            if await self._run(self._store.open, now_ns=self._clock.now_ns()):
                self._metrics.corrupt_files.inc()
        except BaseException:
            await self.shutdown(0.0)
            raise
        for name in self._destinations:
            self._watch(name)

    async def put(self, verdict: Verdict) -> None:
        """Make a verdict durable for every destination, unless its id is known. Raises OutboxUnavailableError."""
        body = encode_verdict(verdict, max_bytes=self._limits.max_verdict_bytes)
        async with self._slots:
            future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._waiting.append((verdict.id, body, future))
            if not self._committing:
                self._commit_waiting()
            added = await future
        (self._metrics.accepted if added else self._metrics.duplicates).inc()

    async def claim(
        self, destination: str, *, max_rows: int, max_bytes: int, max_wait_s: float
    ) -> Sequence[ClaimedVerdict]:
        """The next verdicts that are due for a destination. One caller a destination."""
        self._arrivals[destination].clear()
        rows = await self._run(
            self._store.claim,
            destination,
            now_ns=self._clock.now_ns(),
            max_wait_ns=int(max_wait_s * 1e9),
            max_rows=max_rows,
            max_bytes=max_bytes,
        )
        claimed: list[ClaimedVerdict] = []
        for row in rows:
            try:
                verdict = decode_verdict(row.body)
            except UndecodableVerdictError as err:
                await self.bury(destination, [row.seq], reason=DeadLetterReason.UNDECODABLE, error=str(err))
            else:
                claimed.append(ClaimedVerdict(row.seq, verdict, row.tries, row.put_ns))
        return claimed

    async def next_due_ns(self, destination: str) -> int | None:
        """When the next verdict of a destination is due; None if none waits."""
        return await self._run(self._store.next_due_ns, destination)

    def arrival(self, destination: str) -> asyncio.Event:
        """Set when a verdict was put since the last claim, or may have come back into line."""
        return self._arrivals[destination]

    async def delivered(self, destination: str, claimed: Iterable[ClaimedVerdict]) -> None:
        seqs = [item.seq for item in claimed]
        await self._run(self._store.delivered, destination, seqs)
        self._metrics.delivered.labels(destination).inc(len(seqs))

    async def postpone(self, destination: str, until_ns: Mapping[int, int], *, count_try: bool = True) -> None:
        """Try these again at their times."""
        await self._run(self._store.postpone, destination, until_ns, count_try=count_try)
        self._metrics.retried.labels(destination).inc(len(until_ns))

    async def bury(self, destination: str, seqs: Iterable[int], *, reason: DeadLetterReason, error: str) -> None:
        """Give these up for a destination. They stay as dead letters, within their bound."""
        gone = list(seqs)
        await self._run(
            self._store.bury, destination, gone, reason=reason, error=error[:1000], now_ns=self._clock.now_ns()
        )
        self._metrics.dead_lettered.labels(destination, reason).inc(len(gone))

    async def dead_letters(self, destination: str | None = None, *, limit: int = 100) -> Sequence[DeadLetter]:
        return await self._run(lambda: self._store.dead.list(destination, limit=limit))

    def backlog(self, destination: str) -> Backlog:
        return self._store.backlogs().get(destination, Backlog())

    async def forget(self) -> None:
        """Housekeeping; call it now and then."""
        await self._run(self._store.forget, now_ns=self._clock.now_ns())

    def wake(self) -> None:
        """Let every delivery look again: another process may have put dead letters back in line."""
        for event in self._arrivals.values():
            event.set()

    async def shutdown(self, deadline_s: float) -> None:
        """Close the file once what is under way is on disk. Safe twice, and without start."""
        del deadline_s  # one commit is all that can be under way
        executor, self._executor = self._executor, None
        if executor is None:
            return
        closing = asyncio.get_running_loop().run_in_executor(executor, self._store.close)
        executor.shutdown(wait=False)
        await closing
        for _, _, future in self._waiting:
            if not future.done():
                future.set_exception(_closed())
        self._waiting.clear()

    def _commit_waiting(self) -> None:
        batch, self._waiting = self._waiting, []
        if self._executor is None:
            _settle(batch, _closed())
            return
        self._committing = True
        rows = [(verdict_id, body) for verdict_id, body, _ in batch]
        job = asyncio.get_running_loop().run_in_executor(
            self._executor, self._guarded(lambda: self._store.put_many(rows, now_ns=self._clock.now_ns()))
        )
        job.add_done_callback(lambda done: self._committed(batch, done))

    def _committed(
        self,
        batch: list[tuple[str, bytes, asyncio.Future[bool]]],
        job: asyncio.Future[tuple[list[bool], Mapping[str, int]]],
    ) -> None:
        self._committing = False
        error = job.exception()
        if error is not None:
            _settle(batch, error)
        else:
            added, overflowed = job.result()
            for (_, _, future), is_new in zip(batch, added, strict=True):
                if not future.done():
                    future.set_result(is_new)
            self.wake()
            for name, count in overflowed.items():
                self._metrics.dead_lettered.labels(name, DeadLetterReason.OVERFLOW).inc(count)
        if self._waiting:
            self._commit_waiting()

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._executor is None:
            raise _closed()
        guarded = self._guarded(work)
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: guarded(*args, **kwargs))

    def _guarded(self, work: Callable[P, T]) -> Callable[P, T]:
        """Runs on the thread: turn SQLite's errors into ours, and replace a file that turns out to be corrupt."""

        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return work(*args, **kwargs)
            except sqlite3.Error as err:
                if is_unsound(err):
                    self._metrics.corrupt_files.inc()
                    self._store.rebuild(reason=str(err), now_ns=self._clock.now_ns())
                    raise OutboxUnavailableError(
                        "The outbox file was corrupt and is set aside; hand over again."
                    ) from err
                raise OutboxUnavailableError(f"The outbox cannot be written ({err}); check the disk.") from err

        return guarded

    def _watch(self, name: str) -> None:
        def age_s() -> float:
            oldest = self.backlog(name).oldest_put_ns
            return 0.0 if oldest is None else max(0.0, (self._clock.now_ns() - oldest) / 1e9)

        self._metrics.watch(
            name, rows=lambda: self.backlog(name).rows, size=lambda: self.backlog(name).bytes, oldest_age_s=age_s
        )


def _settle(batch: Iterable[tuple[str, bytes, asyncio.Future[bool]]], error: BaseException) -> None:
    for _, _, future in batch:
        if not future.done():
            future.set_exception(error)


def _closed() -> OutboxUnavailableError:
    return OutboxUnavailableError("The outbox is closed; start it first.")
