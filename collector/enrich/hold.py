"""One destination's hold: takes the spans that may be turns' targets out of requests, and lets each go once.

A span goes with its scores as soon as every evaluator has decided on its turn; without them when none can come: it is
no target, its turn is not judged, or its time is over. The file (`store`) always knows more than the destination: what
is taken out is on disk before the rest of its request is sent, and what is sent of a span is fixed before it is sent.
So after a crash the same bytes go again where no answer was noted, and nothing else does.

Methods may be called from several threads. Each raises RetryableError for what the disk refuses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import structlog

from collector.clock import Clock
from collector.enrich.cutting import AttributeValue
from collector.enrich.held_span import HeldSpan, State, TurnTarget
from collector.enrich.hold_state import HoldState
from collector.enrich.leaving import LeavingSpans, is_leaving
from collector.enrich.metrics import HoldMetrics
from collector.enrich.settings import HoldConfig
from collector.enrich.taking import Taking
from collector.errors import RetryableError
from collector.journal.protocol import JournalRecord, Position
from collector.live.reconstruction import Reconstruction

log = structlog.get_logger(__name__)

_SECOND_NS = 1_000_000_000
_TURNS_KEPT_NS = 24 * 3600 * _SECOND_NS
_MAX_WAIT_SLACK_S = 60.0


class Hold:
    def __init__(
        self,
        name: str,
        path: Path,
        *,
        reconstruction: Reconstruction,
        clock: Clock,
        metrics: HoldMetrics,
        config: HoldConfig | None = None,
    ) -> None:
        """Opens the file, or begins one. Raises HoldVersionError and sqlite3.Error."""
        config = config or HoldConfig()
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._max_wait_ns = int((config.deadline_s + config.settle_s + _MAX_WAIT_SLACK_S) * _SECOND_NS)
        self._state = state = HoldState(name, path, clock=clock, metrics=metrics, config=config)
        self._taking = Taking(name, state, reconstruction=reconstruction, clock=clock, max_bytes=config.max_bytes)
        self._marking = asyncio.Lock()
        self._unmarked: list[JournalRecord] = []
        metrics.held.labels(name).set_function(lambda: len(state.held))
        metrics.held_bytes.labels(name).set_function(lambda: state.held.bytes)
        metrics.oldest_age_s.labels(name).set_function(self._oldest_age_s)

    def close(self) -> None:
        """Safe twice."""
        with self._state.lock:
            self._state.store.close()

    @property
    def is_empty(self) -> bool:
        return not len(self._state.held)

    def release(self) -> None:
        """Let everything go."""
        with self._state.safely():
            now_ns = self._clock.now_ns()
            self._state.change([replace(row, until_ns=now_ns) for row in self._state.held.waiting()])

    def delete(self) -> None:
        """Close, and remove the file."""
        with self._state.lock:
            self._state.store.delete()

    # What the reader does, in its thread.

    def begin_reading(self) -> list[LeavingSpans]:
        """What was on its way when the last reader ended: it is to be sent again."""
        with self._state.safely():
            self._state.load_progress()
            return self._state.leaving.together(self._state.held.leaving())

    def take(self, records: Sequence[JournalRecord]) -> list[JournalRecord]:
        """What passes of these, once what does not is on disk. After an error they are to be given again."""
        return self._taking.take(records)

    def due(self, *, max_bytes: int) -> list[LeavingSpans]:
        """Spans to be sent now, with the scores they have; what they are is fixed from here on."""
        with self._state.safely():
            now_ns = self._clock.now_ns()
            found = self._state.held.due(now_ns, max_wait_ns=self._max_wait_ns, max_bytes=max_bytes)
            for row in found:
                if row.unit is None:
                    self._state.deciding.was_none(row)
            rows = [replace(row, state=State.LEAVING) for row in found]
            self._state.change(rows)
            for row in rows:
                outcome = "enriched" if row.attributes else row.reason
                self._metrics.spans.labels(self._name, outcome).inc()
                held_s = max(0.0, (now_ns - row.received_ns) / _SECOND_NS)
                self._metrics.held_seconds.labels(self._name).observe(held_s)
            return self._state.leaving.together(rows)

    def has_due(self) -> bool:
        with self._state.lock:
            return self._state.held.has_due(self._clock.now_ns(), max_wait_ns=self._max_wait_ns)

    def sync(self) -> None:
        """What was taken survives a power loss, and may be forgotten by the journal."""
        with self._state.safely():
            self._state.store.sync()

    def passed(self, position: Position) -> None:
        """The journal's cursor is there: nothing before it is read again."""
        with self._state.safely(), self._state.store.transaction():
            self._state.store.forget_before(position)

    def maintain(self) -> None:
        with self._state.safely():
            with self._state.store.transaction():
                self._state.store.forget_turns(before_ns=self._clock.now_ns() - _TURNS_KEPT_NS)
            self._state.store.shrink()

    # What the relay says, on its event loop.

    async def mark(self, record: JournalRecord) -> None:
        """The destination has it, or never will: it is not sent again. Those that come together share a commit."""
        self._unmarked.append(record)
        async with self._marking:
            batch, self._unmarked = self._unmarked, []
            if batch:
                try:
                    await asyncio.to_thread(self._settle, batch)
                except RetryableError as err:
                    log.warning("sent requests not noted", destination=self._name, error=str(err))

    # What the judging side says.

    def turn_ready(self, turn: TurnTarget, *, steps: Collection[str]) -> None:
        """A turn was handed to the judging side; `steps` are the ids of the spans that tell of its steps."""
        with self._state.safely():
            now_ns = self._clock.now_ns()
            changed: list[HeldSpan] = []
            shape = None
            rows = self._state.held.of_trace(turn.trace)
            rows += [row for step in steps for row in self._state.held.of_span(step) if row.trace != turn.trace]
            for row in rows:
                if (row.trace, row.span) == (turn.trace, turn.span):
                    changed.append(self._state.deciding.of_turn(row, turn, now_ns=now_ns))
                    shape = row.shape
                elif (beside := self._state.deciding.beside_turn(row, now_ns=now_ns)) is not None:
                    changed.append(beside)
            self._state.deciding.was_target(turn, shape=shape)
            with self._state.store.transaction():
                self._state.store.add_turn(turn, now_ns=now_ns)
                self._state.store.change(changed)
                self._state.save_shapes()
            self._state.remember(changed)

    def open_turns(self) -> list[TurnTarget]:
        """Those whose targets are held, and may still get scores."""
        with self._state.lock:
            return [
                TurnTarget(row.trace, row.span, row.unit, row.conversation)
                for row in self._state.held.waiting()
                if row.unit is not None and row.conversation is not None
            ]

    def scores(self, turn: TurnTarget, attributes: Mapping[str, AttributeValue], *, is_final: bool) -> None:
        """What is known of a turn by now; with all decided, its target goes on."""
        with self._state.safely():
            now_ns = self._clock.now_ns()
            changed = []
            for row in self._state.held.of_trace(turn.trace):
                if row.unit != turn.unit or row.until_ns <= now_ns:
                    continue
                if is_final:
                    changed.append(replace(row, attributes=dict(attributes), until_ns=now_ns, reason="no_score"))
                elif row.attributes != attributes:
                    changed.append(replace(row, attributes=dict(attributes)))
            self._state.change(changed)

    def _settle(self, records: Sequence[JournalRecord]) -> None:
        with self._state.safely():
            gone = [number for record in records for number in self._state.leaving.numbers(record)]
            with self._state.store.transaction():
                self._state.store.let_go(gone)
                self._state.store.add_done(record.position for record in records if not is_leaving(record))
            for number in gone:
                self._state.held.discard(number)
            self._state.leaving.forget(records)

    def _oldest_age_s(self) -> float:
        with self._state.lock:
            oldest_ns = min((row.received_ns for row in self._state.held.waiting()), default=None)
        return 0.0 if oldest_ns is None else max(0.0, (self._clock.now_ns() - oldest_ns) / _SECOND_NS)
