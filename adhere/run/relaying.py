"""A relay that is started anew when its journal reader or sender fails for good, so that it takes nothing else down."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import structlog

from collector.clock import Clock
from collector.journal.protocol import JournalRecord, Reader
from collector.relay.dead_letters import DeadLetters
from collector.relay.destination import Destination
from collector.relay.metrics import RelayMetrics
from collector.relay.relay import Relay
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)

_RESTART_S = 30.0


class KeptRelay:
    def __init__(
        self,
        destination: Destination,
        *,
        signals: Sequence[str],
        open_reader: Callable[[], Reader],
        dead_letters: Path,
        metrics: RelayMetrics,
        clock: Clock,
        rng: random.Random,
        mark: Callable[[JournalRecord], Awaitable[None]] | None = None,
    ) -> None:
        """`open_reader` is called for each start; `mark` is told of each request that has its outcome."""
        self._destination = destination
        self._signals = frozenset(Signal(signal) for signal in signals) & destination.signals
        self._open_reader = open_reader
        self._dead_letters = dead_letters
        self._metrics = metrics
        self._clock = clock
        self._rng = rng
        self._mark = mark
        self._relay: Relay | None = None
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Until `shutdown`, or cancelled."""
        while not self._stopping.is_set():
            try:
                self._relay = await self._open()
                await self._relay.run()
            except Exception:  # A supervision point: one destination must not stop the receivers or another relay.
                log.exception("relay failed", destination=self._destination.name, restart_s=_RESTART_S)
                if self._relay is not None:
                    # It gives the cursor back, which the next one needs.
                    await self._relay.shutdown(0.0)
            if not self._stopping.is_set():
                await self._clock.sleep(_RESTART_S)

    async def shutdown(self, deadline_s: float) -> None:
        self._stopping.set()
        if self._relay is not None:
            await self._relay.shutdown(deadline_s)

    async def _open(self) -> Relay:
        name = self._destination.name
        # First, since it is what fails where certificates are not in place: it must not leave the cursor held.
        sender = open_sender(
            self._destination,
            clock=self._clock,
            on_rejected=lambda signal, count: self._metrics.rejected_items.labels(name, signal).inc(count),
        )
        try:
            reader = self._open_reader()
        except BaseException:
            await sender.close()
            raise
        return Relay(
            name,
            reader=reader,
            sender=sender,
            metrics=self._metrics,
            clock=self._clock,
            rng=self._rng,
            signals=self._signals,
            dead_letters=DeadLetters(self._dead_letters / name),
            mark=self._mark,
        )
