"""The relays of the evaluator process: those that hold target spans until their scores are in."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path

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
from collector.enrich.reader import HoldingReader, NothingMore
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import Reader
from collector.journal.reader import JournalReader
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
        hold = await self._hold(destination, relay, stopping)

        def open_reader() -> Reader:
            reader = JournalReader(
                self._data.journal,
                plan.relay_cursor(destination),
                clock=self._clock,
                metrics=self._journal_metrics,
            )
            try:
                return HoldingReader(reader, hold, clock=self._clock)
            except BaseException:
                reader.close()
                raise

        self._start(destination, relay, hold, open_reader, stopping)
        self.names.append(destination.name)
        return EnrichedDestination(hold, explanation=relay.enrich_explanation)

    async def send_what_is_left(self, destination: Destination, relay: RelayConfig, *, stopping: Steps) -> None:
        """A relay enriches no more: what it held goes on as it is, beside the plain relay that took its place."""
        if not self._file(destination).exists():
            return
        hold = await self._hold(destination, relay, stopping)
        await asyncio.to_thread(hold.release)
        if hold.is_empty:
            await asyncio.to_thread(hold.delete)
            return
        self._start(destination, relay, hold, lambda: HoldingReader(NothingMore(), hold, clock=self._clock), stopping)

    def _file(self, destination: Destination) -> Path:
        return self._data.held / f"{destination.name}.db"

    async def _hold(self, destination: Destination, relay: RelayConfig, stopping: Steps) -> Hold:
        if self._metrics is None:
            self._metrics = RelayMetrics(self._shared_registry), HoldMetrics(self._registry)
        hold = await asyncio.to_thread(
            Hold,
            destination.name,
            self._file(destination),
            reconstruction=StandardReconstruction(declared=self._declared),
            clock=self._clock,
            metrics=self._metrics[1],
            config=plan.hold_config(relay),
        )
        stopping.add(f"held spans of {destination.name}", lambda _: asyncio.to_thread(hold.close))
        return hold

    def _start(
        self,
        destination: Destination,
        relay: RelayConfig,
        hold: Hold,
        open_reader: Callable[[], Reader],
        stopping: Steps,
    ) -> None:
        assert self._metrics is not None
        kept = KeptRelay(
            destination,
            signals=relay.signals,
            open_reader=open_reader,
            dead_letters=self._data.dead_letters,
            metrics=self._metrics[0],
            clock=self._clock,
            rng=self._rng,
            mark=hold.mark,
        )
        running = asyncio.create_task(kept.run(), name=f"relay {destination.name}")
        stopping.add(f"relay task of {destination.name}", lambda _: _cancel(running))
        stopping.add(f"relay {destination.name}", kept.shutdown)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
