"""A relay that runs for the length of a `with`, with counters that are easy to ask."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Self

from prometheus_client import CollectorRegistry

from collector.clock import Clock
from collector.journal.protocol import Reader
from collector.relay.metrics import RelayMetrics
from collector.relay.relay import Relay
from collector.relay.sender import OtlpSender


class RunningRelay:
    """Shut down at the end."""

    def __init__(self, name: str, *, reader: Reader, sender: OtlpSender, clock: Clock, **options: Any) -> None:
        self.name = name
        self.registry = CollectorRegistry()
        metrics = RelayMetrics(self.registry)
        self.relay = Relay(
            name,
            reader=reader,
            sender=sender,
            metrics=metrics,
            clock=clock,
            rng=random.Random(7),
            **{"poll_s": 0.02, **options},
        )
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.relay.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.relay.shutdown(deadline_s=5.0)
        if self._task is not None:
            await self._task

    def count(self, metric: str, **labels: str) -> float:
        """Sum of `adhere_relay_<metric>` over all samples with these labels."""
        wanted = {"destination": self.name, **labels}
        return sum(
            sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if sample.name == f"adhere_relay_{metric}" and wanted.items() <= sample.labels.items()
        )
