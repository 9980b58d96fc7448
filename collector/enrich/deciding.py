"""Which spans are held, before anybody knows which are targets.

Which span is a turn's target is known once the turn is put together, which is later than this has to decide. What is
around a span says it (`recent_traces`), else what spans like it turned out to be (`shapes`); where neither does, it
waits half a second for its trace, and goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from collector.enrich.candidates import SeenSpan
from collector.enrich.held_span import HeldSpan, State, TurnTarget
from collector.enrich.recent_traces import Place, RecentTraces
from collector.enrich.settings import HoldConfig
from collector.enrich.shapes import ShapeLedger

_SECOND_NS = 1_000_000_000


class Deciding:
    """Times are wall-clock nanoseconds."""

    def __init__(self, shapes: ShapeLedger, *, config: HoldConfig) -> None:
        self.shapes = shapes
        self._recent = RecentTraces()
        self._deadline_ns = int(config.deadline_s * _SECOND_NS)
        self._settle_ns = int(config.settle_s * _SECOND_NS)
        self._unsure_ns = int(config.unsure_s * _SECOND_NS)

    def see(self, spans: Iterable[SeenSpan]) -> None:
        for span in spans:
            self._recent.add(span)

    def first_look(self, span: SeenSpan, *, received_ns: int, now_ns: int, turn: TurnTarget | None) -> HeldSpan | None:
        """The span as it is held, or None where it passes. `turn`: the one whose target it is known to be."""
        if span.shape is None:
            return None
        until_ns = received_ns + self._deadline_ns
        row = HeldSpan(
            seq=0,
            trace=span.trace,
            span=span.span,
            state=State.HELD,
            received_ns=received_ns,
            until_ns=until_ns,
            reason="deadline",
            shape=span.shape,
            unit=None,
            conversation=None,
            attributes={},
            size=0,
        )
        if turn is not None:
            self.was_target(turn, shape=span.shape)
            return self.of_turn(row, turn, now_ns=now_ns)
        is_target, place = self.shapes.is_target(span.shape), self._recent.place(span.trace, span.span)
        if until_ns > now_ns and (is_target or (place is Place.OUTERMOST and is_target is None)):
            return row
        if until_ns > now_ns and place is Place.OPEN and is_target is None:
            return replace(
                row, state=State.UNSURE, until_ns=min(until_ns, now_ns + self._unsure_ns), reason="not_a_target"
            )
        self.was_none(row)
        return None

    def second_look(self, row: HeldSpan, *, now_ns: int) -> HeldSpan | None:
        """More of its trace has arrived; None: that changes nothing."""
        if row.unit is not None:
            return None
        place = self._recent.place(row.trace, row.span)
        if place is Place.INNER and not self.shapes.is_target(row.shape):
            return replace(row, until_ns=now_ns, reason="not_a_target")
        if place is Place.OUTERMOST and row.state is State.UNSURE:
            return replace(row, state=State.HELD, until_ns=row.received_ns + self._deadline_ns, reason="deadline")
        return None

    def of_turn(self, row: HeldSpan, turn: TurnTarget, *, now_ns: int) -> HeldSpan:
        """A turn's target: it waits for the scores, for a moment even where its time is over."""
        return replace(
            row,
            state=State.HELD,
            unit=turn.unit,
            conversation=turn.conversation,
            until_ns=max(row.received_ns + self._deadline_ns, now_ns + self._settle_ns),
            reason="deadline",
        )

    def beside_turn(self, row: HeldSpan, *, now_ns: int) -> HeldSpan | None:
        """A turn of its trace is known, and it is not the target; another turn may still name it."""
        settled_ns = now_ns + self._settle_ns
        if row.unit is not None or row.until_ns <= settled_ns:
            return None
        return replace(row, until_ns=settled_ns, reason="not_a_target")

    def was_target(self, turn: TurnTarget, *, shape: bytes | None = None) -> None:
        known = self._recent.get(turn.trace, turn.span)
        shape = shape or (known.shape if known is not None else None)
        if shape is not None:
            self.shapes.learn(shape, is_target=True, takes_back=known is not None and known.counted)
        if known is not None:
            known.counted = False

    def was_none(self, row: HeldSpan) -> None:
        """It goes without a turn, as far as is known."""
        known = self._recent.get(row.trace, row.span)
        if known is None or not known.counted:
            self.shapes.learn(row.shape, is_target=False)
        if known is not None:
            known.counted = True
