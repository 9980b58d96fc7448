"""What empties the outbox for one destination: take a batch, try it, note what came of it.

- A batch that the destination cannot take now is postponed, and the destination is left alone for a while that doubles;
  while it fails, ever smaller batches probe it, and once it answers they grow again.
- A batch that it refuses for good is split until the refused verdict is alone; that one becomes a dead letter and the
  others are delivered. The same happens to one on which the exporter itself breaks.
- Refused credentials say nothing about a verdict: it waits as in an outage.
- A verdict whose target the destination does not know waits by itself, for a bounded time; the others go on.
- A try is over at its deadline. One destination's waiting is never another's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from random import Random

import structlog

from collector.clock import Clock
from collector.errors import PermanentError, RetryableError, UnauthenticatedError
from collector.waiting import first_of, within
from exporters.crash import log_crash
from exporters.errors import OutboxUnavailableError, PartialExportError, TargetUnknownError
from exporters.exporter import Exporter
from exporters.metrics import ExportMetrics
from exporters.outbox.outbox import Outbox
from exporters.outbox.policy import ClaimedVerdict, DeadLetterReason, DeliveryPolicy
from exporters.text import clean_line

log = structlog.get_logger(__name__)


class Delivery:
    def __init__(
        self,
        exporter: Exporter,
        *,
        outbox: Outbox,
        clock: Clock,
        random: Random,
        metrics: ExportMetrics,
        policy: DeliveryPolicy,
    ) -> None:
        self._exporter = exporter
        self._name = exporter.name
        self._outbox = outbox
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._policy = policy
        self._batch_rows = policy.batch_rows
        self._failures = 0
        self._draining = asyncio.Event()

    def drain(self) -> None:
        """Let `run` return once nothing is due, or at the first failure; the rest stays on disk."""
        self._draining.set()

    async def run(self) -> None:
        while True:
            try:
                claimed = await self._outbox.claim(
                    self._name,
                    max_rows=self._batch_rows,
                    max_bytes=self._policy.batch_bytes,
                    max_wait_s=self._policy.max_wait_s,
                )
                if claimed:
                    pause_s = await self._deliver(claimed)
                elif self._draining.is_set():
                    return
                else:
                    await self._wait_for_work()
                    continue
            except OutboxUnavailableError as err:
                log.warning("outbox unavailable", exporter=self._name, error=str(err))
                pause_s = self._policy.backoff_s(self._failures, random=self._random)
            self._adapt(failed=pause_s is not None)
            if pause_s is not None:
                if self._draining.is_set():
                    return
                await first_of(self._clock.sleep(pause_s), self._draining.wait())
                if self._draining.is_set():
                    return

    def _adapt(self, *, failed: bool) -> None:
        if failed:
            self._failures += 1
            self._batch_rows = max(1, self._batch_rows // 2)
        else:
            self._failures = 0
            self._batch_rows = min(self._policy.batch_rows, self._batch_rows * 2)

    async def _wait_for_work(self) -> None:
        due_ns = await self._outbox.next_due_ns(self._name)
        waits: list[Awaitable[object]] = []
        if due_ns is not None:
            wait_s = (due_ns - self._clock.now_ns()) / 1e9
            if wait_s <= 0 or wait_s > self._policy.max_wait_s:
                return
            waits.append(self._clock.sleep(wait_s))
        await first_of(self._outbox.arrival(self._name).wait(), self._draining.wait(), *waits)

    async def _deliver(self, claimed: Sequence[ClaimedVerdict]) -> float | None:
        """None, or for how many seconds the destination is to be left alone."""
        parts = [claimed]
        while parts:
            part = parts.pop()
            try:
                await self._export(part)
            except PartialExportError as err:
                outage = await self._settle_partly(part, err)
                if outage is not None:
                    return self._pause_after(outage, verdicts=len(err.failures))
            except RetryableError as err:
                await self._put_off(part, err)
                return self._pause_after(err, verdicts=len(part))
            except PermanentError as err:
                if len(part) > 1:
                    parts += _halves(part)
                else:
                    await self._give_up(part[0], DeadLetterReason.REJECTED, err)
            except Exception as err:  # noqa: BLE001 - supervision point: an exporter's defect must not stop its delivery
                parts += await self._settle_crash(part, err)
            else:
                await self._outbox.delivered(self._name, part)
        return None

    async def _export(self, part: Sequence[ClaimedVerdict]) -> None:
        """One try within its time."""
        work = self._exporter.export([item.verdict for item in part])
        try:
            await within(self._policy.timeout_s, work, clock=self._clock)
        except UnauthenticatedError as err:
            raise _as_outage(err) from err
        except TimeoutError as err:
            raise RetryableError(f"The exporter gave no answer within {self._policy.timeout_s:g} s.") from err

    async def _settle_partly(
        self, part: Sequence[ClaimedVerdict], partial: PartialExportError
    ) -> RetryableError | None:
        """The failure, if there is one, that says that the destination is away."""
        await self._outbox.delivered(self._name, [item for item in part if item.verdict.id not in partial.failures])
        outage: RetryableError | None = None
        for item in part:
            failure = partial.failures.get(item.verdict.id)
            if isinstance(failure, UnauthenticatedError):
                failure = _as_outage(failure)
            if isinstance(failure, RetryableError):
                await self._put_off([item], failure)
                outage = outage if isinstance(failure, TargetUnknownError) else failure
            elif failure is not None:
                await self._give_up(item, DeadLetterReason.REJECTED, failure)
        return outage

    async def _settle_crash(self, part: Sequence[ClaimedVerdict], err: Exception) -> list[Sequence[ClaimedVerdict]]:
        """What is to be tried again in smaller parts."""
        self._metrics.crashes.labels(self._name).inc()
        log_crash(log, "exporter crashed", err, exporter=self._name, verdicts=len(part))
        if len(part) > 1:
            return _halves(part)
        if part[0].tries + 1 >= self._policy.max_crashes:
            await self._give_up(part[0], DeadLetterReason.CRASHED, err)
        else:
            await self._put_off(part, None)
        return []

    async def _put_off(self, part: Sequence[ClaimedVerdict], err: RetryableError | None) -> None:
        """Try again later, unless a verdict has had its time or its tries."""
        now_ns = self._clock.now_ns()
        next_try_ns = now_ns + int(self._pause_s(max(item.tries for item in part), err) * 1e9)
        until_ns: dict[int, int] = {}
        for item in part:
            if self._policy.max_tries is not None and item.tries + 1 >= self._policy.max_tries:
                await self._give_up(item, DeadLetterReason.MAX_TRIES, err)
            elif now_ns - item.put_ns > self._policy.max_age_s * 1e9:
                await self._give_up(item, DeadLetterReason.MAX_AGE, err)
            elif isinstance(err, TargetUnknownError) and now_ns - item.put_ns > err.patience_s * 1e9:
                await self._give_up(item, DeadLetterReason.TARGET_UNKNOWN, err)
            else:
                until_ns[item.seq] = next_try_ns
        if until_ns:
            await self._outbox.postpone(self._name, until_ns)

    async def _give_up(self, item: ClaimedVerdict, reason: DeadLetterReason, err: Exception | None) -> None:
        await self._outbox.bury(self._name, [item.seq], reason=reason, error=_said(err))
        log.error(
            "verdict dead-lettered", exporter=self._name, verdict_id=item.verdict.id, reason=reason, error=_said(err)
        )

    def _pause_after(self, err: RetryableError, *, verdicts: int) -> float:
        pause_s = self._pause_s(self._failures, err)
        log.warning(
            "export failed, will retry",
            exporter=self._name,
            verdicts=verdicts,
            pause_s=round(pause_s, 3),
            error=_said(err),
        )
        return pause_s

    def _pause_s(self, failures: int, err: RetryableError | None) -> float:
        backoff_s = self._policy.backoff_s(failures, random=self._random)
        asked_s = (err.retry_after_s if err is not None else None) or 0.0
        return max(backoff_s, min(asked_s, self._policy.max_retry_after_s))


def _as_outage(err: UnauthenticatedError) -> RetryableError:
    return RetryableError(str(err))


def _halves(part: Sequence[ClaimedVerdict]) -> list[Sequence[ClaimedVerdict]]:
    """Last half first, since the list is taken from its end."""
    middle = len(part) // 2
    return [part[middle:], part[:middle]]


def _said(err: Exception | None) -> str:
    """What our own errors say; of any other error only its type, since its text may hold anything."""
    if err is None:
        return ""
    if isinstance(err, RetryableError | PermanentError):
        return clean_line(str(err), max_chars=300)
    return type(err).__name__
