"""One delivery a destination, side by side, with one owner.

`start` and `shutdown` are safe twice and in any order. Shutdown delivers what it can before the deadline, cancels the
rest (it is on disk), and closes the exporters. The outbox belongs to whoever opened it and stays open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

import structlog

from collector.clock import Clock
from collector.waiting import end, within
from exporters.crash import log_crash
from exporters.errors import ExporterConfigError, OutboxUnavailableError
from exporters.exporter import BackgroundExporter, Exporter
from exporters.metrics import ExportMetrics
from exporters.outbox.delivery import Delivery
from exporters.outbox.outbox import Outbox
from exporters.outbox.policy import DeliveryPolicy

log = structlog.get_logger(__name__)

_HOUSEKEEPING_S = 60.0
_RESTART_S = 5.0
_SHARE_FOR_DELIVERIES = 0.7
_MIN_CLOSE_S = 0.5


class OutboxRunner:
    def __init__(
        self,
        exporters: Sequence[Exporter],
        *,
        outbox: Outbox,
        clock: Clock,
        random: Random,
        metrics: ExportMetrics,
        policy: DeliveryPolicy | None = None,
        policies: Mapping[str, DeliveryPolicy] | None = None,
    ) -> None:
        """`policies` overrides `policy` for single destinations, by name."""
        unknown = [exporter.name for exporter in exporters if exporter.name not in outbox.destinations]
        if unknown:
            raise ExporterConfigError(
                f"The exporter {unknown[0]!r} is no destination of the outbox; open it with that name."
            )
        default = policy or DeliveryPolicy()
        self._exporters = tuple(exporters)
        self._outbox = outbox
        self._clock = clock
        self._deliveries = [
            Delivery(
                exporter,
                outbox=outbox,
                clock=clock,
                random=random,
                metrics=metrics,
                policy=(policies or {}).get(exporter.name, default),
            )
            for exporter in exporters
        ]
        self._metrics = metrics
        self._delivering: list[asyncio.Task[None]] = []
        self._background: list[asyncio.Task[None]] = []
        self._closed = False

    async def start(self) -> None:
        if self._delivering or self._background or self._closed:
            return
        for exporter, delivery in zip(self._exporters, self._deliveries, strict=True):
            self._delivering.append(asyncio.create_task(self._supervise(exporter.name, delivery)))
            if isinstance(exporter, BackgroundExporter):
                self._background.append(asyncio.create_task(exporter.run(), name=f"exporter {exporter.name}"))
        self._background.append(asyncio.create_task(self._keep_house(), name="outbox housekeeping"))

    async def shutdown(self, deadline_s: float) -> None:
        if self._closed:
            return
        self._closed = True
        started_s = self._clock.monotonic_s()
        for delivery in self._deliveries:
            delivery.drain()
        if self._delivering:
            try:
                await within(deadline_s * _SHARE_FOR_DELIVERIES, _all(self._delivering), clock=self._clock)
            except TimeoutError:
                waiting = sum(self._outbox.backlog(exporter.name).rows for exporter in self._exporters)
                log.warning("verdicts stay in the outbox until the next start", deliveries=waiting)
        await end(*self._delivering, *self._background)
        left_s = max(_MIN_CLOSE_S, deadline_s - (self._clock.monotonic_s() - started_s))
        await asyncio.gather(*(self._close(exporter, within_s=left_s) for exporter in self._exporters))

    async def _supervise(self, name: str, delivery: Delivery) -> None:
        while True:
            try:
                await delivery.run()
            except Exception as err:  # noqa: BLE001 - supervision point: one delivery's defect must not end it for good
                self._metrics.crashes.labels(name).inc()
                log_crash(log, "delivery crashed, restarting", err, exporter=name)
                if self._closed:
                    return
                await self._clock.sleep(_RESTART_S)
            else:
                return

    async def _keep_house(self) -> None:
        while True:
            await self._clock.sleep(_HOUSEKEEPING_S)
            try:
                await self._outbox.forget()
                self._outbox.wake()
            except OutboxUnavailableError as err:
                log.warning("outbox unavailable", error=str(err))

    async def _close(self, exporter: Exporter, *, within_s: float) -> None:
        try:
            await within(within_s, exporter.close(), clock=self._clock)
        except Exception as err:  # noqa: BLE001 - supervision point: one exporter's defect must not keep others open
            self._metrics.crashes.labels(exporter.name).inc()
            log_crash(log, "exporter did not close", err, exporter=exporter.name)


async def _all(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
