"""Brings what the judging side decides to the holds of the enriching relays.

A turn is told to the holds before it counts as handed over, so that none is forgotten by a crash. Scores are looked up
when a verdict is made, and twice a second, since not every decision is a verdict. Trouble here delays spans until their
deadline and nothing else.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from collector.clock import Clock
from collector.enrich.held_span import TurnTarget
from collector.enrich.hold import Hold
from collector.errors import AdhereError
from collector.live.ready import ReadyTurn
from collector.log_limit import LogLimit
from collector.waiting import happens_within
from evaluators.pipeline.sink import VerdictSink
from evaluators.store.scores import UnitScores, scores_of
from evaluators.store.thread import StoreThread
from evaluators.verdict import Verdict
from exporters.otlp.on_target import target_attributes

log = structlog.get_logger(__name__)

_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class EnrichedDestination:
    hold: Hold
    explanation: bool
    """Whether the judges' reasons go there as well."""


class Enriching:
    def __init__(
        self,
        destinations: Sequence[EnrichedDestination],
        *,
        store: StoreThread,
        evaluators: Sequence[str],
        clock: Clock,
    ) -> None:
        """`evaluators`: the names of those that are asked about turns."""
        self._destinations = destinations
        self._store = store
        self._evaluators = tuple(evaluators)
        self._clock = clock
        self._poked = asyncio.Event()
        self._log_limit = LogLimit(clock)

    async def turn_ready(self, ready: ReadyTurn) -> None:
        """Once the judging side has it."""
        turn = ready.conversation.turns[ready.turn_index]
        if turn.is_stand_in or not self._destinations:
            return
        target = TurnTarget(turn.trace_id, turn.span_id, ready.key, f"conversation:{ready.conversation.key}")
        steps = {step.span_id for step in turn.steps if step.span_id is not None}
        for destination in self._destinations:
            try:
                await asyncio.to_thread(destination.hold.turn_ready, target, steps=steps)
            except AdhereError as err:
                self._say("turn not noted for its target span", err)
        self.poke()

    def poke(self) -> None:
        """There may be something new to look up."""
        self._poked.set()

    async def run(self) -> None:
        """Until cancelled."""
        while self._destinations:
            self._poked.clear()
            for destination in self._destinations:
                try:
                    await self._bring_scores(destination)
                except AdhereError as err:
                    self._say("scores not brought to held spans", err)
            await happens_within(_LOOK_S, self._poked, clock=self._clock)

    async def _bring_scores(self, destination: EnrichedDestination) -> None:
        turns = destination.hold.open_turns()
        if not turns:
            return
        found = await self._store.run(partial(_look_up, turns=turns, evaluators=self._evaluators))
        await asyncio.to_thread(_give, destination, list(zip(turns, found, strict=True)))

    def _say(self, what: str, err: AdhereError) -> None:
        if self._log_limit.allows(what):
            log.warning(what, error=str(err), left_out=self._log_limit.left_out(what))


class PokingSink:
    """A sink that says when a verdict was made."""

    def __init__(self, sink: VerdictSink, enriching: Enriching) -> None:
        self._sink = sink
        self._enriching = enriching

    async def put(self, verdict: Verdict) -> None:
        self._enriching.poke()
        await self._sink.put(verdict)


def _look_up(
    connection: sqlite3.Connection, *, turns: Sequence[TurnTarget], evaluators: Sequence[str]
) -> list[UnitScores]:
    found = []
    for turn in turns:
        own = scores_of(connection, turn.unit, evaluators=evaluators)
        # A verdict on the whole conversation belongs to its last turn's target.
        whole = scores_of(connection, turn.conversation, evaluators=()).verdicts
        whole = tuple(verdict for verdict in whole if (verdict.trace_id, verdict.span_id) == (turn.trace, turn.span))
        found.append(UnitScores((*own.verdicts, *whole), is_final=own.is_final))
    return found


def _give(destination: EnrichedDestination, found: Sequence[tuple[TurnTarget, UnitScores]]) -> None:
    for turn, scores in found:
        attributes = target_attributes(scores.verdicts, content=destination.explanation)
        destination.hold.scores(turn, attributes, is_final=scores.is_final)
