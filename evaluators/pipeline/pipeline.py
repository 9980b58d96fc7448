"""Judges units: selection, evaluation, verdict, decision, hand-over. Nothing is lost, asked twice, or left undecided.

`submit` returns when the unit is in line, and waits while the line is full. `on_settled` is called when every evaluator
concerned has decided on the unit or has it on disk in front of it: from then on the caller may forget it. What needs a
judge waits on disk, so a slow judge holds up neither the built-in checks nor whoever submits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import structlog
from prometheus_client import CollectorRegistry

from collector.clock import Clock
from evaluators.content import content_of
from evaluators.errors import StoreUnavailableError
from evaluators.pipeline.asking import Asking
from evaluators.pipeline.binding import storable
from evaluators.pipeline.counting import count_tallies
from evaluators.pipeline.durably import DurableStore
from evaluators.pipeline.handover import HandOver
from evaluators.pipeline.intake import Intake
from evaluators.pipeline.lane import JudgeLane
from evaluators.pipeline.limits import PipelineLimits
from evaluators.pipeline.metrics import PipelineMetrics
from evaluators.pipeline.pacing import Pacing
from evaluators.pipeline.recovery import recover
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.shared import Shared
from evaluators.pipeline.sink import VerdictSink
from evaluators.pipeline.unit_queue import Submission, UnitQueue
from evaluators.pipeline.upkeep import Upkeep
from evaluators.pipeline.whereabouts import whereabouts
from evaluators.pipeline.withdrawal import withdraw
from evaluators.store.retention import Retention
from evaluators.store.thread import StoreThread
from evaluators.verdict import Unit

log = structlog.get_logger(__name__)


class JudgingPipeline:
    """The store and the evaluators belong to the caller, who closes them after `shutdown`."""

    def __init__(
        self,
        setups: Sequence[EvaluatorSetup],
        *,
        store: StoreThread,
        sink: VerdictSink,
        clock: Clock,
        random: Random,
        registry: CollectorRegistry,
        limits: PipelineLimits | None = None,
        retention: Retention | None = None,
    ) -> None:
        limits = limits or PipelineLimits()
        self._clock = clock
        self._random = random
        self._metrics = PipelineMetrics(registry)
        self._shared = Shared(
            setups=tuple(setups),
            store=DurableStore(store, clock=clock, metrics=self._metrics),
            asking=Asking(clock=clock, metrics=self._metrics),
            clock=clock,
            metrics=self._metrics,
            limits=limits,
        )
        self._rested = asyncio.Event()
        self._queue = UnitQueue(max_items=limits.queue_items, max_bytes=limits.queue_bytes)
        self._handover = HandOver(self._shared, sink, on_rest=self._rested.set)
        self._lane = JudgeLane(
            self._shared, random=random, on_verdicts=self._handover.wake.poke, on_rest=self._rested.set
        )
        self._upkeep = Upkeep(
            self._shared,
            retention=retention or Retention(),
            on_look=self._handover.wake.poke,
            on_called_back=self._lane.wake.poke,
        )
        self._intake = Intake(
            self._shared,
            self._queue,
            paused_judges=self._lane.paused_judges,
            on_enqueued=self._enqueued,
            on_verdicts=self._handover.wake.poke,
        )
        self._metrics.watch(queue=self._queue, oldest_pending_s=self._oldest_pending_s)
        self._lane_ended = asyncio.Event()
        self._handover_ended = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self) -> None:
        """Take up what the last process left; safe twice."""
        if self._running is not None or self._closing:
            return
        self._running = asyncio.create_task(self._run(), name="judging")
        self._running.add_done_callback(lambda _: self._rested.set())

    async def submit(self, unit: Unit, *, on_settled: Callable[[], None] | None = None) -> None:
        """Raises `StoreUnavailableError` once the pipeline is closing."""
        if self._closing:
            raise StoreUnavailableError("The judging pipeline is closing and takes no more units.")
        unit = storable(unit)
        content = content_of(unit)
        submission = Submission(
            unit=unit,
            digest=content.digest,
            size=content.size,
            submitted_ns=self._clock.now_ns(),
            on_settled=on_settled,
        )
        await self._queue.put(submission)

    async def withdraw(self, unit_key: str) -> None:
        """The unit is none any more; returns when that is on disk. Safe twice."""
        now_ns = self._clock.now_ns()
        tallies = await self._shared.store.run(partial(withdraw, unit_key=unit_key, now_ns=now_ns))
        count_tallies(self._metrics, tallies)

    async def drain(self) -> None:
        """Wait until everything submitted is decided or put off, and every verdict is handed over."""
        while self._running is not None:
            if self._running.done():
                await self._running
                return
            await self._queue.join()
            self._rested.clear()
            if self._queue.items == 0 and self._lane.is_idle and self._handover.is_idle:
                return
            await self._rested.wait()

    async def wait(self) -> None:
        """Until the pipeline has ended; raises what ended it early."""
        if self._running is not None:
            await asyncio.shield(self._running)

    async def shutdown(self, deadline_s: float) -> None:
        """Decide on what was submitted, end what is being judged, hand over; after the deadline stop where it is.

        Nothing is lost at the deadline: what waits is on disk, and what was not settled comes again with the replay.
        """
        self._closing = True
        if self._running is None or self._running.done():
            await asyncio.gather(*filter(None, [self._running]), return_exceptions=True)
            return
        ending = asyncio.ensure_future(self._end_in_order())
        timer = asyncio.ensure_future(self._clock.sleep(deadline_s))
        try:
            if deadline_s > 0:
                await asyncio.wait({ending, timer, self._running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ending, timer, self._running):
                task.cancel()
            await asyncio.gather(ending, timer, self._running, return_exceptions=True)

    async def _end_in_order(self) -> None:
        self._lane.stop_taking()
        await self._queue.join()
        await self._lane_ended.wait()
        self._handover.stop_when_empty()
        await self._handover_ended.wait()

    async def _run(self) -> None:
        try:
            await self._recover()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._intake.run())
                group.create_task(self._upkeep.run())
                group.create_task(self._run_lane())
                group.create_task(self._run_handover())
        except Exception as err:  # Not swallowed: `wait` raises it to whoever supervises the process.
            log.error("judging pipeline ended early", error=type(err).__name__, at=whereabouts(err))  # noqa: TRY400
            raise

    async def _run_lane(self) -> None:
        await self._lane.run()
        self._lane_ended.set()

    async def _run_handover(self) -> None:
        await self._handover.run()
        self._handover_ended.set()

    async def _recover(self) -> None:
        names = [setup.name for setup in self._shared.setups]
        pacing = Pacing(self._shared.limits, random=self._random)
        found = await self._shared.store.run(
            partial(recover, evaluators=names, pacing=pacing, now_ns=self._clock.now_ns())
        )
        for evaluator, count in found.waiting.items():
            self._metrics.recovered.labels(evaluator).inc(count)
        count_tallies(self._metrics, found.tallies)

    async def _enqueued(self, size: int) -> None:
        await self._upkeep.enqueued(size)
        self._lane.wake.poke()

    def _oldest_pending_s(self) -> float:
        """Of what is in memory, and of what waited on disk when that was last looked at."""
        known = [ns for ns in (self._queue.oldest_ns, self._upkeep.oldest_waiting_ns) if ns is not None]
        return max(0.0, (self._clock.now_ns() - min(known)) / 1e9) if known else 0.0
