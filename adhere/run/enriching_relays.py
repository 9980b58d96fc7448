"""The relays of the evaluator process: those that hold target spans until their scores are in."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from prometheus_client import CollectorRegistry

from adhere.config.receiving import RelayConfig
from adhere.run import plan
from adhere.run.data_dir import DataDir
from adhere.run.enriching import EnrichedDestination
from adhere.run.relaying import KeptRelay
from adhere.run.stopping import Steps
from collector.clock import Clock
from collector.dialects.declared import DeclaredSpan
from collector.enrich.hold import Hold
from collector.enrich.metrics import HoldMetrics
from collector.journal.metrics import JournalMetrics
from collector.live.standard import StandardReconstruction
from collector.relay.destination import Destination
from collector.relay.metrics import RelayMetrics


class EnrichingRelays:
    def __init__(
        self,
        data: DataDir,
        *,
        clock: Clock,
        rng: random.Random,
        journal_metrics: JournalMetrics,
        registry: CollectorRegistry,
        shared_registry: CollectorRegistry,
        declared: Sequence[DeclaredSpan] = (),
    ) -> None:
        """`shared_registry`: of the families that both processes have."""
        self._data = data
        self._declared = declared
        self._clock = clock
        self._rng = rng
        self._journal_metrics = journal_metrics
        self._registry = registry
        self._shared_registry = shared_registry
        self._metrics: tuple[RelayMetrics, HoldMetrics] | None = None
        self.names: list[str] = []

    async def open(self, destination: Destination, relay: RelayConfig, *, stopping: Steps) -> EnrichedDestination:
        """Started; ended by the steps added to `stopping`. Raises HoldVersionError."""
        if self._metrics is None:
            self._metrics = RelayMetrics(self._shared_registry), HoldMetrics(self._registry)
        relay_metrics, hold_metrics = self._metrics
        hold = await asyncio.to_thread(
            Hold,
            destination.name,
            self._data.held / f"{destination.name}.db",
            reconstruction=StandardReconstruction(declared=self._declared),
            clock=self._clock,
            metrics=hold_metrics,
            config=plan.hold_config(relay),
        )
        stopping.add(f"held spans of {destination.name}", lambda _: asyncio.to_thread(hold.close))
        kept = KeptRelay(
            destination,
            signals=relay.signals,
            data=self._data,
            wakeup=None,
            journal_metrics=self._journal_metrics,
            metrics=relay_metrics,
            clock=self._clock,
            rng=self._rng,
            hold=hold,
        )
        running = asyncio.create_task(kept.run(), name=f"relay {destination.name}")
        stopping.add(f"relay task of {destination.name}", lambda _: _cancel(running))
        stopping.add(f"relay {destination.name}", kept.shutdown)
        self.names.append(destination.name)
        return EnrichedDestination(hold, explanation=relay.enrich_explanation)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
