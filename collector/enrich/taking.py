"""Takes the spans that may be turns' targets out of requests as they are read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import structlog

from collector.clock import Clock
from collector.enrich.candidates import CandidateReader, SeenSpan
from collector.enrich.cutting import cut
from collector.enrich.held_span import HeldSpan
from collector.enrich.hold_state import HoldState
from collector.errors import MalformedRequestError, RetryableError
from collector.journal.protocol import JournalRecord
from collector.live.reconstruction import Reconstruction
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)


class Taking:
    def __init__(
        self, name: str, state: HoldState, *, reconstruction: Reconstruction, clock: Clock, max_bytes: int
    ) -> None:
        self._name = name
        self._state = state
        self._candidates = CandidateReader(reconstruction)
        self._clock = clock
        self._max_bytes = max_bytes

    def take(self, records: Sequence[JournalRecord]) -> list[JournalRecord]:
        """What passes of these, once what does not is on disk. After an error they are to be given again."""
        state = self._state
        seen = [self._seen(record) for record in records]
        passing: list[JournalRecord] = []
        added: list[HeldSpan] = []
        with state.safely():
            with state.store.transaction():
                for record, spans in zip(records, seen, strict=True):
                    body = self._taken(record, spans, added)
                    if body is not None:
                        passing.append(record if body is record.body else replace(record, body=body))
                state.save_shapes()
            state.remember(added)
        try:
            self._look_again({span.trace for spans in seen for span in spans})
        except RetryableError as err:
            # The records are taken; what is held goes at its deadline.
            log.warning("held spans not looked at", destination=self._name, error=str(err))
        return passing

    def _seen(self, record: JournalRecord) -> list[SeenSpan]:
        if record.signal is not Signal.TRACES:
            return []
        with self._state.lock:
            watched = self._state.held.unsure_traces()
        return self._candidates.read(record.body, watched=watched)

    def _taken(self, record: JournalRecord, seen: Sequence[SeenSpan], added: list[HeldSpan]) -> bytes | None:
        """What passes of the record; in the caller's transaction."""
        state = self._state
        if record.position in state.done:
            return None
        if (known := state.cut.get(record.position)) is not None:
            return cut(record.body, known)[0]
        state.deciding.see(seen)
        now_ns = self._clock.now_ns()
        rows: dict[int, HeldSpan] = {}
        for span in seen:
            turn = state.store.turns_of(span.trace).get(span.span) if span.shape is not None else None
            row = state.deciding.first_look(span, received_ns=record.received_ns, now_ns=now_ns, turn=turn)
            if row is not None:
                rows[span.index] = row
        if not rows:
            return record.body
        try:
            rest, bodies = cut(record.body, rows)
        except MalformedRequestError:
            return record.body
        state.store.add_cut(record.position, sorted(rows))
        for index, body in zip(sorted(rows), bodies, strict=True):
            row = replace(rows[index], size=len(body))
            added.append(replace(row, seq=state.store.hold(row, body)))
        return rest

    def _look_again(self, traces: Collection[str]) -> None:
        """After something arrived: what is around the spans of these traces, and whether all fit."""
        state = self._state
        with state.safely():
            now_ns = self._clock.now_ns()
            rows = [row for trace in traces for row in state.held.of_trace(trace)]
            looked = (state.deciding.second_look(row, now_ns=now_ns) for row in rows)
            state.change([row for row in looked if row is not None])
            over = state.held.bytes - self._max_bytes
            shed = []
            for row in state.held.waiting() if over > 0 else ():
                shed.append(replace(row, until_ns=now_ns, reason="full"))
                over -= row.size
                if over <= 0:
                    break
            state.change(shed)
