"""A relay that is started anew when its journal reader or sender fails for good, so that it takes nothing else down."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import structlog

from adhere.run.data_dir import DataDir
from adhere.run.plan import relay_cursor
from collector.clock import Clock
from collector.enrich.hold import Hold
from collector.enrich.reader import HoldingReader
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import Reader
from collector.journal.reader import JournalReader
from collector.journal.wakeup import Wakeup
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
        data: DataDir,
        wakeup: Wakeup | None,
        journal_metrics: JournalMetrics,
        metrics: RelayMetrics,
        clock: Clock,
        rng: random.Random,
        hold: Hold | None = None,
    ) -> None:
        """`wakeup` is the journal writer's, where it lives in this process; with a `hold`, scores go on spans."""
        self._destination = destination
        self._signals = frozenset(Signal(signal) for signal in signals) & destination.signals
        self._data = data
        self._wakeup = wakeup
        self._journal_metrics = journal_metrics
        self._metrics = metrics
        self._clock = clock
        self._rng = rng
        self._hold = hold
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
            reader = self._reader()
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
            dead_letters=DeadLetters(self._data.dead_letters / name),
            mark=None if self._hold is None else self._hold.mark,
        )

    def _reader(self) -> Reader:
        reader = JournalReader(
            self._data.journal,
            relay_cursor(self._destination),
            clock=self._clock,
            metrics=self._journal_metrics,
            wakeup=self._wakeup,
        )
        if self._hold is None:
            return reader
        try:
            return HoldingReader(reader, self._hold, clock=self._clock)
        except BaseException:
            reader.close()
            raise
