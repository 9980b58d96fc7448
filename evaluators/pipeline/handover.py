"""Hands verdicts over to where scores go, in the order they were made, until each was taken over.

The store remembers which were: one that was stored and not handed over when the process died is handed over after the
restart, under the same id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import structlog

from evaluators.pipeline.shared import Shared
from evaluators.pipeline.sink import VerdictSink
from evaluators.pipeline.wake import Wake
from evaluators.store.verdicts import mark_handed_over, verdicts_to_hand_over
from evaluators.verdict import Verdict

log = structlog.get_logger(__name__)

_BATCH_ITEMS = 64
_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 30.0


class HandOver:
    def __init__(self, shared: Shared, sink: VerdictSink, *, on_rest: Callable[[], None]) -> None:
        self._shared = shared
        self._sink = sink
        self._stopping = False
        self._pause_s = _FIRST_PAUSE_S
        self.wake = Wake(shared.clock, on_rest=on_rest)

    @property
    def is_idle(self) -> bool:
        return self.wake.is_resting

    def stop_when_empty(self) -> None:
        self._stopping = True
        self.wake.poke()

    async def run(self) -> None:
        """Ends after `stop_when_empty`, when all verdicts are handed over."""
        while True:
            self.wake.clear()
            verdicts = await self._shared.store.run(partial(verdicts_to_hand_over, limit=_BATCH_ITEMS))
            if verdicts:
                await self._hand_over(verdicts)
            elif self._stopping:
                return
            else:
                await self.wake.rest(None)

    async def _hand_over(self, verdicts: list[Verdict]) -> None:
        taken = await asyncio.gather(*(self._put(verdict) for verdict in verdicts))
        done = [verdict for verdict, is_taken in zip(verdicts, taken, strict=True) if is_taken]
        if done:
            await self._shared.store.run(partial(mark_handed_over, verdicts=done))
            self._shared.metrics.handed_over.inc(len(done))
        if len(done) == len(verdicts):
            self._pause_s = _FIRST_PAUSE_S
            return
        self._shared.metrics.hand_over_failures.inc(len(verdicts) - len(done))
        await self._shared.clock.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, _MAX_PAUSE_S)

    async def _put(self, verdict: Verdict) -> bool:
        try:
            await self._sink.put(verdict)
        except Exception as err:  # noqa: BLE001 - supervision point: whatever an exporter raises, it is given it again
            log.warning("verdict not taken over", verdict=verdict.id, error=type(err).__name__)
            return False
        return True
