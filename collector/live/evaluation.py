"""Looks at one component: assembles its conversations, applies the readiness rules, says what is to be handed over.

Runs inside the caller's transaction and writes the units and the component's next due time there. The same content is
handed over once for each revision; until it was acknowledged it is handed over again after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collector.live.closure import awaits_tools
from collector.live.codec import decode_fragment
from collector.live.content_digest import conversation_digest
from collector.live.content_reader import ContentReader
from collector.live.kept_components import KeptComponent, KeptComponents
from collector.live.pace import Pace
from collector.live.pace_store import PaceStore
from collector.live.readiness import Due, ReadinessConfig, UnitFacts, conversation_due, turn_due
from collector.live.ready import (
    Ready,
    ReadyConversation,
    ReadyReason,
    ReadyTurn,
    Withdrawn,
    conversation_key,
    turn_key,
)
from collector.live.reconstruction import Reconstruction
from collector.live.store import ComponentRow, StateStore, TraceRow
from collector.live.units import UnitRow, UnitStore
from collector.model import Conversation, Turn
from collector.operation import Operation

_MAX_READY = 256
"""Units of one component at a time; the rest follows at once."""


Rule = Callable[[UnitFacts, Pace, ReadinessConfig], Due]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A turn or conversation as it is now."""

    key: str
    digest: bytes
    facts: UnitFacts
    pace: Pace


@dataclass(slots=True)
class _Look:
    """One look at one component."""

    component: int
    now_ns: int
    rows: Mapping[str, TraceRow]
    kept: KeptComponent
    given: dict[str, UnitRow]
    present: set[str] = field(default_factory=set)
    ready: list[Ready] = field(default_factory=list)
    changed: list[UnitRow] = field(default_factory=list)
    next_ns: int | None = None

    def look_again(self, at_ns: int) -> None:
        self.next_ns = at_ns if self.next_ns is None else min(self.next_ns, at_ns)


class Evaluation:
    def __init__(
        self,
        store: StateStore,
        reader: ContentReader,
        units: UnitStore,
        paces: PaceStore,
        kept: KeptComponents,
        *,
        reconstruction: Reconstruction,
        config: ReadinessConfig,
    ) -> None:
        self._store = store
        self._reader = reader
        self._units = units
        self._kept = kept
        self._paces = paces
        self._reconstruction = reconstruction
        self._config = config
        self.in_flight: set[tuple[str, int]] = set()
        """Handed over by this process and not yet acknowledged: key and revision."""

    def conversations(self, component: int) -> list[Conversation]:
        operations = [decode_fragment(data, self._reader) for _, _, data in self._store.fragments_of(component)]
        return [conversation for conversation, _ in self._reconstruction.conversations(operations)]

    def look(self, component: ComponentRow, *, now_ns: int) -> list[Ready]:
        rows = {row.name: row for row in self._store.traces_of(component.id)}
        kept = self._kept.take(component, rows.values())
        look = _Look(
            component=component.id,
            now_ns=now_ns,
            rows=rows,
            kept=kept,
            given=self._units.of_component(component.id),
        )
        for conversation, operations in kept.conversations():
            if conversation.turns:
                self._conversation(conversation, operations, look)
        self._kept.keep(component, kept)
        self._withdraw(look)
        self._units.save(look.changed)
        self._store.set_due({component.id: look.next_ns})
        return look.ready

    def _conversation(self, conversation: Conversation, operations: Collection[Operation], look: _Look) -> None:
        of_span = {operation.span_id: operation for operation in operations}
        digests = look.kept.turn_digests(conversation)
        turns_due_ns = 0
        for turn, digest in zip(conversation.turns, digests, strict=True):
            key = turn_key_of(conversation, turn)
            if self._is_settled(key, digest, look):
                continue
            traces = _traces(turn, of_span, look)
            target = of_span.get(turn.span_id)
            ended = all(look.kept.is_closed(row.name) for row in traces) and not awaits_tools(turn, target)
            facts = _facts(traces, ended=ended, now_ns=look.now_ns)
            unit = _Unit(key, digest, facts, self._of(traces))
            due = self._due(unit, look, turn_due)
            revision = self._revision(unit, due, look)
            turns_due_ns = max(turns_due_ns, 0 if due is None else due.at_ns)
            if revision is not None:
                reason = due.reason if due is not None else ReadyReason.ENDED
                look.ready.append(_ready_turn(conversation, turn, unit, revision, reason))
                if due is not None and revision == 0:
                    before = conversation.turns[turn.index - 1] if turn.index else None
                    earlier = _traces(before, of_span, look) if before is not None else []
                    self._learn(earlier, traces, ended=reason is ReadyReason.ENDED)
        rows = [look.rows[name] for name in sorted({op.trace_id for op in operations} & look.rows.keys())]
        marked_ns = self._store.ended_ns(conversation.key)
        latest = _traces(conversation.turns[-1], of_span, look) if marked_ns is not None else []
        is_over = marked_ns is not None and marked_ns >= min((row.first_ns for row in latest), default=0)
        facts = _facts(rows, ended=is_over, now_ns=look.now_ns)
        whole = _Unit(conversation_key(conversation), conversation_digest(conversation, digests), facts, self._of(rows))
        self._whole(conversation, whole, turns_due_ns, look)

    def _whole(self, conversation: Conversation, unit: _Unit, turns_due_ns: int, look: _Look) -> None:
        due = self._due(unit, look, conversation_due)
        if due is not None and due.reason is not ReadyReason.MAX_AGE:
            # Not before its turns.
            due = Due(max(due.at_ns, turns_due_ns), due.reason)
        revision = self._revision(unit, due, look)
        if revision is not None:
            look.ready.append(
                ReadyConversation(
                    key=unit.key,
                    conversation=conversation,
                    revision=revision,
                    content_digest=unit.digest,
                    reason=due.reason if due is not None else ReadyReason.IDLE,
                )
            )

    def _is_settled(self, key: str, digest: bytes, look: _Look) -> bool:
        """The unit was handed over with this content, and there is nothing more to do about it."""
        given = look.given.get(key)
        if given is None or given.digest != digest:
            return False
        look.present.add(key)
        return given.acknowledged or (key, given.revision) in self.in_flight

    def _due(self, unit: _Unit, look: _Look, rule: Rule) -> Due | None:
        """When the unit is to be handed over; None where it was, with this content."""
        look.present.add(unit.key)
        given = look.given.get(unit.key)
        if given is None:
            return rule(unit.facts, unit.pace, self._config)
        if given.digest == unit.digest:
            return None
        facts = replace(unit.facts, revision=given.revision, given_ns=given.given_ns)
        return rule(facts, unit.pace, self._config)

    def _revision(self, unit: _Unit, due: Due | None, look: _Look) -> int | None:
        """The revision to hand over now, if any."""
        key, given = unit.key, look.given.get(unit.key)
        if due is None:
            if given is None or given.acknowledged or (key, given.revision) in self.in_flight:
                return None
            self.in_flight.add((key, given.revision))
            return given.revision
        if due.at_ns > look.now_ns:
            look.look_again(due.at_ns)
            return None
        if len(look.ready) >= _MAX_READY:
            look.look_again(look.now_ns)
            return None
        revision = 0 if given is None else given.revision + 1
        look.changed.append(
            UnitRow(
                key=key,
                component=look.component,
                revision=revision,
                digest=unit.digest,
                given_ns=look.now_ns,
                acknowledged=False,
            )
        )
        self.in_flight.add((key, revision))
        return revision

    def _withdraw(self, look: _Look) -> None:
        for key, given in look.given.items():
            if key in look.present:
                continue
            revision = given.revision
            if given.digest is not None:
                revision += 1
                look.changed.append(
                    replace(given, revision=revision, digest=None, given_ns=look.now_ns, acknowledged=False)
                )
            elif given.acknowledged or (key, revision) in self.in_flight:
                continue
            self.in_flight.add((key, revision))
            look.ready.append(Withdrawn(key=key, revision=revision))

    def _learn(self, before: Sequence[TraceRow], traces: Sequence[TraceRow], *, ended: bool) -> None:
        """A turn was handed over for the first time: what it says about the agent's waits."""
        if not traces:
            return
        pace = self._paces.changed(traces[0].profile)
        if ended and all(row.ended_ns == row.last_ns for row in traces):
            pace.settle.add(0.0)
        if before:
            pause_ns = min(row.first_ns for row in traces) - max(row.last_ns for row in before)
            if pause_ns > 0:
                pace.pauses.add(pause_ns / 1e9)

    def _of(self, traces: Sequence[TraceRow]) -> Pace:
        return self._paces.of(traces[0].profile if traces else "/")


def turn_key_of(conversation: Conversation, turn: Turn) -> str:
    return turn_key(conversation, trace_id=turn.trace_id, span_id=turn.span_id)


def _traces(turn: Turn, of_span: Mapping[str, Operation], look: _Look) -> list[TraceRow]:
    """The traces that the turn's spans are in."""
    names = {turn.trace_id}
    for step in turn.steps:
        if step.span_id is not None and step.span_id in of_span:
            names.add(of_span[step.span_id].trace_id)
    return [look.rows[name] for name in sorted(names) if name in look.rows]


def _facts(rows: Sequence[TraceRow], *, ended: bool, now_ns: int) -> UnitFacts:
    return UnitFacts(
        first_arrival_ns=min((row.first_ns for row in rows), default=now_ns),
        last_arrival_ns=max((row.last_ns for row in rows), default=now_ns),
        ended=ended,
    )


def _ready_turn(conversation: Conversation, turn: Turn, unit: _Unit, revision: int, reason: ReadyReason) -> ReadyTurn:
    return ReadyTurn(
        key=unit.key,
        conversation=replace(conversation, turns=conversation.turns[: turn.index + 1]),
        turn_index=turn.index,
        revision=revision,
        content_digest=unit.digest,
        reason=reason,
    )
