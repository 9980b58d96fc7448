"""One destination's hold: takes the spans that may be turns' targets out of requests, and lets each go once.

A span goes with its scores as soon as every evaluator has decided on its turn; without them when none can come: it is
no target, its turn is not judged, or its time is over. The file (`store`) always knows more than the destination: what
is taken out is on disk before the rest of its request is sent, and what is sent of a span is fixed before it is sent.
So after a crash the same bytes go again where no answer was noted, and nothing else does.

Methods may be called from several threads. Each raises RetryableError for what the disk refuses.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import structlog

from collector.clock import Clock
from collector.enrich.candidates import CandidateReader, SeenSpan
from collector.enrich.cutting import AttributeValue, cut
from collector.enrich.deciding import Deciding
from collector.enrich.held_spans import HeldSpans
from collector.enrich.leaving import Leaving, LeavingSpans, is_leaving
from collector.enrich.metrics import HoldMetrics
from collector.enrich.settings import HoldConfig
from collector.enrich.shapes import ShapeLedger
from collector.enrich.store import HeldSpan, HoldStore, State, TurnTarget
from collector.errors import MalformedRequestError, RetryableError
from collector.journal.protocol import JournalRecord, Position
from collector.live.reconstruction import Reconstruction
from collector.sqlite_file import is_unsound
from collector.telemetry.records import Signal

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
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._config = config or HoldConfig()
        self._max_wait_ns = int((self._config.deadline_s + self._config.settle_s + _MAX_WAIT_SLACK_S) * _SECOND_NS)
        self._candidates = CandidateReader(reconstruction)
        self._lock = threading.RLock()
        self._marking = asyncio.Lock()
        self._unmarked: list[JournalRecord] = []
        self._store = HoldStore(path, now_ns=clock.now_ns())
        if self._store.was_unsound:
            metrics.set_aside.labels(name).inc()
        self._load()
        metrics.held.labels(name).set_function(lambda: len(self._held))
        metrics.held_bytes.labels(name).set_function(lambda: self._held.bytes)
        metrics.oldest_age_s.labels(name).set_function(self._oldest_age_s)

    def close(self) -> None:
        """Safe twice."""
        with self._lock:
            self._store.close()

    @property
    def is_empty(self) -> bool:
        return not len(self._held)

    def release(self) -> None:
        """Let everything go."""
        with self._safely():
            now_ns = self._clock.now_ns()
            self._change([replace(row, until_ns=now_ns) for row in self._held.waiting()])

    def delete(self) -> None:
        """Close, and remove the file."""
        with self._lock:
            self._store.delete()

    # What the reader does, in its thread.

    def begin_reading(self) -> list[LeavingSpans]:
        """What was on its way when the last reader ended: it is to be sent again."""
        with self._safely():
            self._cut, self._done = self._store.progress()
            return self._leaving.together(self._held.leaving())

    def take(self, records: Sequence[JournalRecord]) -> list[JournalRecord]:
        """What passes of these, once what does not is on disk. After an error they are to be given again."""
        seen = [self._seen(record) for record in records]
        passing: list[JournalRecord] = []
        added: list[HeldSpan] = []
        with self._safely():
            with self._store.transaction():
                for record, spans in zip(records, seen, strict=True):
                    body = self._taken(record, spans, added)
                    if body is not None:
                        passing.append(record if body is record.body else replace(record, body=body))
                self._store.save_shapes(*self._deciding.shapes.take_changes())
            self._remember(added)
        try:
            self._look_again({span.trace for spans in seen for span in spans})
        except RetryableError as err:
            # The records are taken; what is held goes at its deadline.
            log.warning("held spans not looked at", destination=self._name, error=str(err))
        return passing

    def due(self, *, max_bytes: int) -> list[LeavingSpans]:
        """Spans to be sent now, with the scores they have; what they are is fixed from here on."""
        with self._safely():
            now_ns = self._clock.now_ns()
            found = self._held.due(now_ns, max_wait_ns=self._max_wait_ns, max_bytes=max_bytes)
            for row in found:
                if row.unit is None:
                    self._deciding.was_none(row)
            rows = [replace(row, state=State.LEAVING) for row in found]
            self._change(rows)
            for row in rows:
                outcome = "enriched" if row.attributes else row.reason
                self._metrics.spans.labels(self._name, outcome).inc()
                held_s = max(0.0, (now_ns - row.received_ns) / _SECOND_NS)
                self._metrics.held_seconds.labels(self._name).observe(held_s)
            return self._leaving.together(rows)

    def has_due(self) -> bool:
        with self._lock:
            return self._held.has_due(self._clock.now_ns(), max_wait_ns=self._max_wait_ns)

    def sync(self) -> None:
        """What was taken survives a power loss, and may be forgotten by the journal."""
        with self._safely():
            self._store.sync()

    def passed(self, position: Position) -> None:
        """The journal's cursor is there: nothing before it is read again."""
        with self._safely(), self._store.transaction():
            self._store.forget_before(position)

    def maintain(self) -> None:
        with self._safely():
            with self._store.transaction():
                self._store.forget_turns(before_ns=self._clock.now_ns() - _TURNS_KEPT_NS)
            self._store.shrink()

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
        with self._safely():
            now_ns = self._clock.now_ns()
            changed: list[HeldSpan] = []
            shape = None
            rows = self._held.of_trace(turn.trace)
            rows += [row for step in steps for row in self._held.of_span(step) if row.trace != turn.trace]
            for row in rows:
                if (row.trace, row.span) == (turn.trace, turn.span):
                    changed.append(self._deciding.of_turn(row, turn, now_ns=now_ns))
                    shape = row.shape
                elif (beside := self._deciding.beside_turn(row, now_ns=now_ns)) is not None:
                    changed.append(beside)
            self._deciding.was_target(turn, shape=shape)
            with self._store.transaction():
                self._store.add_turn(turn, now_ns=now_ns)
                self._store.change(changed)
                self._store.save_shapes(*self._deciding.shapes.take_changes())
            self._remember(changed)

    def open_turns(self) -> list[TurnTarget]:
        """Those whose targets are held, and may still get scores."""
        with self._lock:
            return [
                TurnTarget(row.trace, row.span, row.unit, row.conversation)
                for row in self._held.waiting()
                if row.unit is not None and row.conversation is not None
            ]

    def scores(self, turn: TurnTarget, attributes: Mapping[str, AttributeValue], *, is_final: bool) -> None:
        """What is known of a turn by now; with all decided, its target goes on."""
        with self._safely():
            now_ns = self._clock.now_ns()
            changed = []
            for row in self._held.of_trace(turn.trace):
                if row.unit != turn.unit or row.until_ns <= now_ns:
                    continue
                if is_final:
                    changed.append(replace(row, attributes=dict(attributes), until_ns=now_ns, reason="no_score"))
                elif row.attributes != attributes:
                    changed.append(replace(row, attributes=dict(attributes)))
            self._change(changed)

    def _seen(self, record: JournalRecord) -> list[SeenSpan]:
        if record.signal is not Signal.TRACES:
            return []
        with self._lock:
            watched = self._held.unsure_traces()
        return self._candidates.read(record.body, watched=watched)

    def _taken(self, record: JournalRecord, seen: Sequence[SeenSpan], added: list[HeldSpan]) -> bytes | None:
        """What passes of the record; in the caller's transaction."""
        if record.position in self._done:
            return None
        if (known := self._cut.get(record.position)) is not None:
            return cut(record.body, known)[0]
        self._deciding.see(seen)
        now_ns = self._clock.now_ns()
        rows: dict[int, HeldSpan] = {}
        for span in seen:
            turn = self._store.turns_of(span.trace).get(span.span) if span.shape is not None else None
            row = self._deciding.first_look(span, received_ns=record.received_ns, now_ns=now_ns, turn=turn)
            if row is not None:
                rows[span.index] = row
        if not rows:
            return record.body
        try:
            rest, bodies = cut(record.body, rows)
        except MalformedRequestError:
            return record.body
        self._store.add_cut(record.position, sorted(rows))
        for index, body in zip(sorted(rows), bodies, strict=True):
            row = replace(rows[index], size=len(body))
            added.append(replace(row, seq=self._store.hold(row, body)))
        return rest

    def _look_again(self, traces: Collection[str]) -> None:
        """After something arrived: what is around the spans of these traces, and whether all fit."""
        with self._safely():
            now_ns = self._clock.now_ns()
            rows = [row for trace in traces for row in self._held.of_trace(trace)]
            looked = (self._deciding.second_look(row, now_ns=now_ns) for row in rows)
            self._change([row for row in looked if row is not None])
            over = self._held.bytes - self._config.max_bytes
            shed = []
            for row in self._held.waiting() if over > 0 else ():
                shed.append(replace(row, until_ns=now_ns, reason="full"))
                over -= row.size
                if over <= 0:
                    break
            self._change(shed)

    def _settle(self, records: Sequence[JournalRecord]) -> None:
        with self._safely():
            gone = [number for record in records for number in self._leaving.numbers(record)]
            with self._store.transaction():
                self._store.let_go(gone)
                self._store.add_done(record.position for record in records if not is_leaving(record))
            for number in gone:
                self._held.discard(number)
            self._leaving.forget(records)

    def _change(self, rows: Sequence[HeldSpan]) -> None:
        if rows:
            with self._store.transaction():
                self._store.change(rows)
                self._store.save_shapes(*self._deciding.shapes.take_changes())
            self._remember(rows)

    def _remember(self, rows: Sequence[HeldSpan]) -> None:
        """Only behind the file."""
        for row in rows:
            self._held.put(row)

    def _load(self) -> None:
        self._held = HeldSpans(self._store.held())
        self._leaving = Leaving(self._store)
        self._deciding = Deciding(ShapeLedger(self._store.shapes()), config=self._config)
        self._cut, self._done = self._store.progress()

    @contextmanager
    def _safely(self) -> Iterator[None]:
        """One caller at a time, and SQLite's errors as one after which the call may be repeated."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as err:
                self._metrics.failures.labels(self._name).inc()
                if is_unsound(err):
                    self._metrics.set_aside.labels(self._name).inc()
                    self._store.begin_anew(str(err), now_ns=self._clock.now_ns())
                    self._load()
                raise RetryableError(
                    f"The file of the spans held for {self._name} cannot be written ({err}); check the disk."
                ) from err

    def _oldest_age_s(self) -> float:
        with self._lock:
            oldest_ns = min((row.received_ns for row in self._held.waiting()), default=None)
        return 0.0 if oldest_ns is None else max(0.0, (self._clock.now_ns() - oldest_ns) / _SECOND_NS)
