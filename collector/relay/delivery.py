"""Being done with one request: sent, cut in two where it is too large, or refused and put aside.

Failures that may pass are repeated without an end, unless the policy has one: then a request older than that is given
up while the destination is away, and the backlog in the journal holds no more than that time. A refusal for good is
counted, logged at most every ten seconds and never holds up the requests behind it.

A request refused as too large is cut until the parts fit. The smaller part goes first, and when several single spans
are refused before anything was taken, size is not the matter (a quota without RetryInfo looks the same over gRPC): the
rest is spared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import structlog

from collector.clock import Clock
from collector.errors import (
    AdhereError,
    MalformedRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
)
from collector.journal.protocol import JournalRecord
from collector.log_limit import LogLimit
from collector.relay.dead_letters import DeadLetters
from collector.relay.metrics import RelayMetrics
from collector.relay.pace import Pace
from collector.relay.retry import RetryPolicy
from collector.relay.sender import OtlpSender
from collector.relay.split import halves
from collector.waiting import happens_within

log = structlog.get_logger(__name__)

DropReason: TypeAlias = Literal["too_large", "malformed", "unauthenticated", "refused", "gave_up", "internal_error"]

_UNCUTTABLE_BEFORE_GIVING_UP = 8
_THREAD_FROM_BYTES = 1 << 20
"""Walking over this much takes about a millisecond."""


class StoppedError(Exception):
    """The relay ends before this request has an outcome; it will be sent after the next start."""


@dataclass(slots=True)
class _Parts:
    """How far one request has come."""

    pending: list[bytes]
    refused: list[bytes] = field(default_factory=list)
    reason: DropReason | None = None
    tries: int = 0
    accepted: bool = False

    def refuse(self, bodies: list[bytes], reason: DropReason) -> None:
        self.refused.extend(bodies)
        self.reason = self.reason or reason


class Delivery:
    """For one destination; `deliver` may run for several requests at once."""

    def __init__(
        self,
        name: str,
        *,
        sender: OtlpSender,
        policy: RetryPolicy,
        pace: Pace,
        metrics: RelayMetrics,
        clock: Clock,
        stopping: asyncio.Event,
        dead_letters: DeadLetters | None,
        max_parts: int,
    ) -> None:
        self._name = name
        self._sender = sender
        self._policy = policy
        self._pace = pace
        self._metrics = metrics
        self._clock = clock
        self._stopping = stopping
        self._dead_letters = dead_letters
        self._dead_letters_lock = asyncio.Lock()
        self._max_parts = max_parts
        self._log_limit = LogLimit(clock)

    async def deliver(self, record: JournalRecord, *, is_oldest: Callable[[], bool]) -> None:
        """Return once the request has its outcome, which is counted. Raises StoppedError."""
        parts = _Parts(pending=[record.body])
        try:
            while parts.pending:
                await self._send_part(parts, record, is_oldest=is_oldest)
        except StoppedError:
            raise
        except Exception as err:  # noqa: BLE001 - supervision: one request must not end the relay of all others
            if self._log_limit.allows("internal_error"):
                # Not the traceback: an exception's own text may hold content.
                error = type(err).__name__
                log.error("request could not be relayed", destination=self._name, error=error)  # noqa: TRY400 - see above
            parts.refuse([record.body], "internal_error")
        labels = (self._name, record.signal.value)
        if parts.reason is None:
            self._metrics.relayed.labels(*labels).inc()
            self._metrics.relayed_bytes.labels(*labels).inc(len(record.body))
        else:
            self._metrics.dropped.labels(*labels, parts.reason).inc()
            await self._put_aside(record, parts.refused, parts.reason)

    async def _send_part(self, parts: _Parts, record: JournalRecord, *, is_oldest: Callable[[], bool]) -> None:
        part = parts.pending.pop()
        parts.tries += 1
        try:
            await self._send(record, part, is_oldest=is_oldest)
        except RequestTooLargeError as err:
            cut = await self._cut(part) if parts.tries < self._max_parts else None
            if cut is not None:
                self._metrics.splits.labels(self._name, record.signal.value).inc()
                parts.pending.extend(sorted(cut, key=len, reverse=True))
                return
            parts.refuse([part], "too_large")
            if not parts.accepted and len(parts.refused) >= _UNCUTTABLE_BEFORE_GIVING_UP:
                parts.pending.clear()
                parts.refused = [record.body]
            self._log_dropped(record, err)
        except PermanentError as err:
            parts.refuse([part], drop_reason(err))
            self._log_dropped(record, err)
        except RetryableError as err:
            parts.refuse([part, *parts.pending], drop_reason(err))
            parts.pending.clear()
            self._log_dropped(record, err)
        else:
            parts.accepted = True

    async def _send(self, record: JournalRecord, body: bytes, *, is_oldest: Callable[[], bool]) -> None:
        """Try until there is an answer. Raises PermanentError, StoppedError, and RetryableError once given up."""
        while True:
            await self._turn(record, is_oldest)
            attempt = self._pace.begin()
            try:
                await self._sender.send(record.signal, body)
            except RetryableError as err:
                self._pace.failed(attempt, retry_after_s=err.retry_after_s)
                if self._is_expired(record):
                    raise
                self._metrics.retries.labels(self._name, record.signal.value).inc()
                self._log_failure(err)
            except PermanentError:
                self._pace.answered(attempt)
                raise
            else:
                self._pace.answered(attempt)
                return

    async def _turn(self, record: JournalRecord, is_oldest: Callable[[], bool]) -> None:
        """Wait until this request may be tried."""
        while True:
            if self._stopping.is_set():
                raise StoppedError
            if not self._pace.is_failing:
                return
            if not is_oldest():
                await self._pace.changed()
            elif self._is_expired(record):
                # Without a try: a long backlog must leave the journal faster than one request a backoff.
                raise RetryableError(f"The destination {self._name} was away for longer than a request may wait.")
            elif pause_s := self._pace.pause_s:
                await happens_within(pause_s, self._stopping, clock=self._clock)
            else:
                return

    def _is_expired(self, record: JournalRecord) -> bool:
        """Older than the policy's bound. By age, so that a restart does not grant every request a new term."""
        max_s = self._policy.max_elapsed_s
        return max_s is not None and self._clock.now_ns() - record.received_ns > max_s * 1e9

    async def _cut(self, part: bytes) -> tuple[bytes, bytes] | None:
        try:
            return halves(part) if len(part) < _THREAD_FROM_BYTES else await asyncio.to_thread(halves, part)
        except MalformedRequestError:
            return None

    async def _put_aside(self, record: JournalRecord, bodies: list[bytes], reason: DropReason) -> None:
        if self._dead_letters is None:
            return
        for body in bodies:
            keep = partial(self._dead_letters.keep, record.signal, body, reason=reason, received_ns=record.received_ns)
            try:
                async with self._dead_letters_lock:
                    lost = await asyncio.to_thread(keep)
            except OSError as err:
                lost = 1
                if self._log_limit.allows("dead letter"):
                    log.warning("dead letter could not be written", destination=self._name, error=err.strerror)
            self._metrics.dead_letters_lost.labels(self._name).inc(lost)

    def _log_dropped(self, record: JournalRecord, err: AdhereError) -> None:
        reason = drop_reason(err)
        if self._log_limit.allows(reason):
            log.warning(
                "request dropped",
                destination=self._name,
                signal=record.signal.value,
                reason=reason,
                error=str(err),
                bytes=len(record.body),
                left_out=self._log_limit.left_out(reason),
            )

    def _log_failure(self, err: RetryableError) -> None:
        if self._log_limit.allows("retry"):
            log.warning(
                "destination not available, trying again",
                destination=self._name,
                error=str(err),
                retry_in_s=round(self._pace.pause_s, 1),
                left_out=self._log_limit.left_out("retry"),
            )


def drop_reason(err: AdhereError) -> DropReason:
    match err:
        case RequestTooLargeError():
            return "too_large"
        case MalformedRequestError():
            return "malformed"
        case UnauthenticatedError():
            return "unauthenticated"
        case RetryableError():
            return "gave_up"
        case _:
            return "refused"
