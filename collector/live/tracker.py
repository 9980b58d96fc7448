"""The live state as one thing: journal records in, units that are ready out, everything in between on disk.

Each call is one transaction. The state stores how far the journal was read, so records that are read again after a
crash change nothing. Calls must not overlap; they may come from different threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from collector.clock import Clock
from collector.journal.protocol import JournalRecord, Position
from collector.live.arrival import Arrival
from collector.live.find import find_conversation, find_conversations
from collector.live.intake import Intake, RecordReader
from collector.live.metrics import LiveMetrics
from collector.live.pending import Pending, PendingSpans
from collector.live.ready import Ready, ReadyConversation, ReadyTurn
from collector.live.reconstruction import Reconstruction
from collector.live.settings import LiveConfig
from collector.live.state import LiveState
from collector.live.store import StoredTime
from collector.live.stream_time import StreamTime
from collector.model import Conversation

log = structlog.get_logger(__name__)

_LOOKS = 32
"""Components looked at in one transaction, at most."""
_RETRY_S = 300
"""A conversation that cannot be assembled is tried again after this."""


class ConversationTracker:
    def __init__(
        self,
        path: Path,
        *,
        reconstruction: Reconstruction,
        clock: Clock,
        metrics: LiveMetrics,
        config: LiveConfig | None = None,
    ) -> None:
        """Open or begin the state in this file. Raises StateUnavailableError or NewerStateError."""
        self._path = path
        self._reconstruction = reconstruction
        self._clock = clock
        self._metrics = metrics
        self._config = config or LiveConfig()
        self._pending = PendingSpans(max_bytes=self._config.pending_bytes, max_age_s=self._config.pending_age_s)
        self._records = RecordReader(reconstruction, metrics)
        self._state = self._open()
        stored = self._state.store.time()
        self._time = StreamTime(
            clock,
            stored_ns=None if stored is None else stored.stream_ns,
            stored_wall_ns=None if stored is None else stored.wall_ns,
        )
        self._stored_wall_ns = 0 if stored is None else stored.wall_ns
        self._position = self._state.store.position()
        self._redeliver()

    @property
    def position(self) -> Position | None:
        """Everything before it is in the state: what the journal's cursor may be committed to."""
        return self._position

    def ingest(self, records: Sequence[JournalRecord]) -> None:
        """Bring records into the state, with how far the journal was read, in one transaction."""
        fresh = [record for record in records if not self._is_known(record)]
        if len(fresh) < len(records):
            self._metrics.staged.add(self._metrics.records, "skipped", count=len(records) - len(fresh))
        if not fresh:
            self._metrics.staged.commit()
            return
        started = time.perf_counter()
        arrivals: dict[str, Arrival] = {}
        waiting: list[tuple[JournalRecord, int, dict[str, list[Pending]]]] = []
        with self._counted(), self._state.transaction():
            for record in fresh:
                arrived_ns = self._time.record(record.received_ns)
                intake = self._records.read(record)
                self._note(record, intake, arrived_ns)
                for name, operations in intake.fragments.items():
                    arrival = arrivals.setdefault(name, Arrival(first_ns=arrived_ns, last_ns=arrived_ns))
                    arrival.last_ns = arrived_ns
                    arrival.operations += operations
                if intake.waiting:
                    waiting.append((record, arrived_ns, intake.waiting))
            still_waiting = self._join_waiting(arrivals, waiting)
            self._state.batches.write(arrivals)
            self._state.reader.end_look()
            begun = self._pending.oldest_position() or (still_waiting[0][0].position if still_waiting else None)
            saved = self._save_progress(begun or fresh[-1].next_position)
        # Only behind the commit: what fails on a full disk is brought in again, with everything that waited for it.
        self._stored_wall_ns = saved.wall_ns
        for name in arrivals:
            self._pending.discard(name)
        for record, arrived_ns, items in still_waiting:
            self._pending.add(record.position, arrived_ns=arrived_ns, items=items)
        self._metrics.items.labels("unrelated").inc(self._pending.expire(self._time.now_ns))
        self._position = self._pending.oldest_position() or fresh[-1].next_position
        self._metrics.pending_bytes.set(self._pending.bytes)
        self._metrics.ingest_seconds.observe(time.perf_counter() - started)

    def caught_up(self) -> None:
        """Everything in the journal was read; until the next record, time passes as the clock says."""
        self._time.caught_up()

    def due(self) -> list[Ready]:
        """Some of what is ready now, oldest first; call again until nothing comes."""
        ready: list[Ready] = []
        now_ns = self._time.now_ns
        budget = self._config.read_bytes
        due = self._state.store.due_components(now_ns, limit=_LOOKS)
        if not due:
            return []
        with self._state.transaction():
            for component in due:
                try:
                    ready += self._state.evaluation.look(component, now_ns=now_ns)
                    self._state.reader.end_look()
                except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as err:
                    # A supervision point: a conversation that cannot be assembled must not hold up the others.
                    self._metrics.failures.labels("conversation").inc()
                    log.warning("conversation not assembled", component=component.id, error=type(err).__name__)
                    self._state.store.set_due({component.id: now_ns + _RETRY_S * 1_000_000_000})
                budget -= component.bytes
                if budget < 0:
                    break
            self._state.paces.flush(now_ns=now_ns)
        for unit in ready:
            self._count(unit)
        return ready

    def next_due_s(self) -> float | None:
        """Seconds until something may be ready; None: nothing waits."""
        due_ns = self._state.store.next_due_ns()
        return None if due_ns is None else max(0.0, (due_ns - self._time.now_ns) / 1e9)

    def postpone(self, unit: Ready, seconds: float) -> None:
        """The judging side could not take the unit; it is handed over again after this time, or after a restart."""
        self._state.evaluation.in_flight.discard((unit.key, unit.revision))
        with self._state.transaction():
            component = self._state.units.component_of(unit.key)
            if component is not None:
                self._state.store.advance_due(component, due_ns=self._time.now_ns + int(seconds * 1e9))

    def acknowledge(self, units: Iterable[Ready]) -> None:
        """The judging side has these: they are not handed over again, not even after a crash."""
        taken = [(unit.key, unit.revision) for unit in units]
        with self._state.transaction():
            self._state.units.acknowledge(taken)
        self._state.evaluation.in_flight.difference_update(taken)

    def get(self, conversation_id: str) -> Conversation:
        """By conversation id, trace id, or the beginning of either. Raises ConversationNotFoundError."""
        return find_conversation(self._state.store, self._state.evaluation.conversations, conversation_id)

    def find(self, prefix: str, *, limit: int = 20) -> list[Conversation]:
        return find_conversations(self._state.store, self._state.evaluation.conversations, prefix, limit=limit)

    def maintain(self) -> bool:
        """Delete what is over the bounds, a little at a time; True if there may be more to do."""
        now_ns = self._time.now_ns
        with self._state.transaction():
            retired = self._state.retention.retire(now_ns)
            if not retired.total:
                self._state.retention.tidy(now_ns)
                self._state.paces.retire()
        if retired.total:
            # Numbers of what went may be used again.
            self._state.forget()
            self._metrics.retired.labels("age").inc(retired.by_age)
            self._metrics.retired.labels("bytes").inc(retired.by_bytes)
        self._state.retention.shrink_file()
        self._metrics.state_bytes.set(self._state.retention.live_bytes())
        return retired.total > 0

    def start_anew(self, reason: str) -> None:
        """The file turned out to be unsound: set it aside and begin an empty one, from here in the journal."""
        self._state.set_aside(reason, now_ns=self._clock.now_ns())
        self._metrics.set_aside.inc()
        self._pending.clear()
        self._state = self._open()
        with self._state.transaction():
            saved = self._save_progress(self._position)
        self._stored_wall_ns = saved.wall_ns

    def close(self) -> None:
        """Safe twice."""
        self._state.close()

    def _open(self) -> LiveState:
        return LiveState(
            self._path,
            reconstruction=self._reconstruction,
            config=self._config,
            metrics=self._metrics,
            now_ns=self._clock.now_ns(),
        )

    def _is_known(self, record: JournalRecord) -> bool:
        if self._position is None or record.position >= self._position:
            return False
        # Older than what was read, by place and by time. A record that is older by place only comes from a new journal.
        if record.received_ns <= self._stored_wall_ns:
            return True
        self._pending.clear()
        return False

    def _note(self, record: JournalRecord, intake: Intake, arrived_ns: int) -> None:
        self._metrics.staged.add(self._metrics.records, "read" if intake.malformed is None else "malformed")
        if intake.malformed is not None:
            self._state.poison.add(record, reason=intake.malformed)
        for conversation in intake.ended:
            self._state.store.mark_ended(conversation, at_ns=arrived_ns)
            quiet_ns = int(self._config.readiness.quiet.default_s * 1e9)
            _, _, conversation_id = conversation.partition("/")
            for component in self._state.store.components_of_conversation(conversation_id):
                self._state.store.advance_due(component, due_ns=arrived_ns + quiet_ns)

    def _join_waiting(
        self,
        arrivals: dict[str, Arrival],
        waiting: Sequence[tuple[JournalRecord, int, dict[str, list[Pending]]]],
    ) -> list[tuple[JournalRecord, int, dict[str, list[Pending]]]]:
        """Spans of traces with GenAI telemetry join them; the others wait on."""
        for name, arrival in arrivals.items():
            arrival.operations += self._records.skeletons(self._pending.of(name))
        names = {name for _, _, items in waiting for name in items if name not in arrivals}
        known = self._state.traces.named(names)
        rest = []
        for record, arrived_ns, items in waiting:
            for name in [name for name in items if name in arrivals or name in known]:
                arrival = arrivals.setdefault(name, Arrival(first_ns=arrived_ns, last_ns=arrived_ns))
                arrival.operations += self._records.skeletons(items.pop(name))
            if items:
                rest.append((record, arrived_ns, items))
        return rest

    @contextmanager
    def _counted(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._metrics.staged.discard()
            raise
        self._metrics.staged.commit()

    def _save_progress(self, position: Position | None) -> StoredTime:
        """In the caller's transaction."""
        self._state.paces.flush(now_ns=self._time.now_ns)
        time_now = StoredTime(stream_ns=self._time.now_ns, wall_ns=self._time.wall_ns)
        self._state.store.set_progress(position=position, time=time_now)
        return time_now

    def _redeliver(self) -> None:
        """What was handed over and not acknowledged before a crash is looked at again at once."""
        with self._state.transaction():
            now_ns = self._time.now_ns
            self._state.store.set_due(dict.fromkeys(self._state.units.components_with_open_units(), now_ns))

    def _count(self, unit: Ready) -> None:
        match unit:
            case ReadyTurn():
                kind, reason = "turn", unit.reason.value
            case ReadyConversation():
                kind, reason = "conversation", unit.reason.value
            case _:
                kind, reason = "withdrawn", "merged"
        self._metrics.units.labels(kind, reason, str(unit.revision > 0).lower()).inc()
