"""The judges' ledger in the verdict store, one for all judges of an installation.

Looking for an answer and booking the call are one transaction, and so are keeping the answer and putting the booking
right. A call that does not fit beside others that are under way waits for their end, since they are booked with the
most that they may cost and mostly cost far less.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial

import structlog

from collector.clock import Clock
from collector.waiting import happens_within
from evaluators.budget import NANO, Amount, BudgetConfig, Limit, Periods, renews_in_s
from evaluators.errors import StoreUnavailableError
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.ledger import Entry, Opened, Recalled
from evaluators.judge.metrics import JudgeMetrics
from evaluators.store import calls, spending
from evaluators.store.spending import UsedUp
from evaluators.store.thread import StoreThread

log = structlog.get_logger(__name__)

_PATIENCE_S = 15.0
"""How long a call waits for the end of others; well under the deadline of a question."""
_MAX_ANSWER_BYTES = 256 * 1024


class StoredLedger:
    def __init__(
        self,
        store: StoreThread,
        *,
        clock: Clock,
        budget: BudgetConfig | None = None,
        keep_answers: bool = True,
        metrics: JudgeMetrics | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = budget.limits if budget is not None else ()
        self._keep_answers = keep_answers
        self._under_way: set[int] = set()
        self._one_ended = asyncio.Event()
        self._used: dict[Limit, int] = {}
        self._known_in: Periods | None = None
        """Day and month of what `_used` says."""
        self._reported_in: str | None = None
        if metrics is not None:
            self._watch(metrics)

    async def start(self) -> None:
        """Read what is spent already, so that the gauges are true before the first call."""
        if self._limits:
            now_ns = self._clock.now_ns()
            self._learn(await self._store.run(lambda c: spending.used(c, self._limits, now_ns=now_ns)), now_ns=now_ns)

    async def open(self, key: str, *, bound: Amount) -> Opened:
        patience_ends_s = self._clock.monotonic_s() + _PATIENCE_S
        while True:
            one_ended = self._one_ended
            found = await self._open(key, bound)
            if not isinstance(found, UsedUp):
                if isinstance(found, Entry):
                    self._under_way.add(id(found))
                return found
            if one_ended.is_set() and not found.never_fits:
                continue  # What it would have waited for has happened meanwhile.
            left_s = patience_ends_s - self._clock.monotonic_s()
            if found.never_fits or not self._under_way or left_s <= 0:
                raise self._refusal(found)
            await happens_within(left_s, one_ended, clock=self._clock)

    async def close(self, entry: Entry, *, spent: Amount, answer: bytes | None) -> None:
        try:
            await self._close(entry, spent=spent, answer=answer)
        finally:
            self._ended(entry)

    def abandon(self, entry: Entry) -> None:
        self._ended(entry)

    def _ended(self, entry: Entry) -> None:
        self._under_way.discard(id(entry))
        ended, self._one_ended = self._one_ended, asyncio.Event()
        ended.set()

    async def _close(self, entry: Entry, *, spent: Amount, answer: bytes | None) -> None:
        kept = answer if self._keep_answers and answer is not None and len(answer) <= _MAX_ANSWER_BYTES else None
        if not self._limits and kept is None:
            return
        now_ns = self._clock.now_ns()

        def operation(connection: sqlite3.Connection) -> None:
            if kept is not None:
                calls.record(connection, entry.key, kept, now_ns=now_ns)
            if self._limits:
                spending.settle(connection, bound=entry.bound, spent=spent, reserved_ns=entry.opened_ns)

        try:
            await self._store.run(operation)
            self._put_right(entry, spent)
        except StoreUnavailableError as err:  # The booking stays, and the answer is used all the same.
            log.warning("judge call cannot be closed", error=str(err))

    async def forget(self, keys: Sequence[str]) -> None:
        if not self._keep_answers or not keys:
            return
        try:
            await self._store.run(lambda connection: calls.forget(connection, keys))
        except StoreUnavailableError as err:
            log.warning("answers of no use cannot be forgotten", error=str(err))

    async def _open(self, key: str, bound: Amount) -> Opened | UsedUp:
        if not self._limits and not self._keep_answers:
            return Entry(key, bound, 0)
        now_ns = self._clock.now_ns()

        def operation(connection: sqlite3.Connection) -> Recalled | UsedUp | Mapping[Limit, int]:
            answer = calls.recall(connection, key) if self._keep_answers else None
            if answer is not None:
                return Recalled(answer)
            return spending.reserve(connection, bound, self._limits, now_ns=now_ns) if self._limits else {}

        try:
            found = await self._store.run(operation)
        except StoreUnavailableError as err:
            if not self._limits:  # An answer that cannot be looked up costs a call, and no more.
                log.warning("kept answers cannot be read", error=str(err))
                return Entry(key, bound, now_ns)
            raise JudgeError(
                JudgeErrorType.JUDGE_DOWN, "The budget of the judge cannot be read, so nothing is sent."
            ) from err
        if isinstance(found, Recalled | UsedUp):
            return found
        self._learn(found, now_ns=now_ns)
        return Entry(key, bound, now_ns)

    def _refusal(self, found: UsedUp) -> JudgeError:
        limit, now_ns = found.limit, self._clock.now_ns()
        wanted, allowed = limit.shown(found.wanted), limit.shown(limit.amount)
        if found.never_fits:
            return JudgeError(
                JudgeErrorType.OVER_BUDGET,
                f"One call may take {wanted}, more than {limit.setting} ({allowed}) allows: raise it, or lower "
                "judge.max_transcript_tokens or judge.max_output_tokens.",
            )
        renews_s = renews_in_s(limit, now_ns=now_ns)
        if self._under_way:
            return JudgeError(
                JudgeErrorType.BUDGET_EXHAUSTED, f"What is left of {limit.setting} is held by calls under way."
            )
        self._report(limit, found.used, now_ns=now_ns, renews_s=renews_s)
        return JudgeError(
            JudgeErrorType.BUDGET_EXHAUSTED,
            f"{limit.setting} ({allowed}) is used up: {limit.shown(found.used)} are spent and a call may take {wanted};"
            f" the next {limit.period} begins in {renews_s / 3600:.1f} h.",
            retry_after_s=renews_s,
        )

    def _report(self, limit: Limit, used: int, *, now_ns: int, renews_s: float) -> None:
        """Once a day or month."""
        period = f"{limit.setting} {Periods.at(now_ns).of(limit)}"
        if period != self._reported_in:
            self._reported_in = period
            log.warning(
                "judge budget used up",
                limit=limit.setting,
                allowed=limit.shown(limit.amount),
                spent=limit.shown(used),
                renews_in_s=round(renews_s),
            )

    def _learn(self, used: Mapping[Limit, int], *, now_ns: int) -> None:
        if used:
            self._used, self._known_in = dict(used), Periods.at(now_ns)

    def _put_right(self, entry: Entry, spent: Amount) -> None:
        booked = Periods.at(entry.opened_ns)
        for limit in self._used:
            if self._known_in is not None and self._known_in.of(limit) == booked.of(limit):
                self._used[limit] += limit.of(spent - entry.bound)

    def _watch(self, metrics: JudgeMetrics) -> None:
        for limit in self._limits:
            scale = NANO if limit.unit == "usd" else 1
            metrics.budget_limit.labels(limit.period, limit.unit).set(limit.amount / scale)
            used = metrics.budget_used.labels(limit.period, limit.unit)
            used.set_function(partial(self._used_now, limit, scale))

    def _used_now(self, limit: Limit, scale: int) -> float:
        now = Periods.at(self._clock.now_ns())
        known = self._known_in is not None and self._known_in.of(limit) == now.of(limit)
        return self._used.get(limit, 0) / scale if known else 0.0
