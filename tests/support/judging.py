"""A judging pipeline on a real store in a folder, as a process would compose it; it can be killed and opened again."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random

from prometheus_client import CollectorRegistry

from collector.clock import Clock
from evaluators.pipeline.limits import PipelineLimits
from evaluators.pipeline.pipeline import JudgingPipeline
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.pipeline.sink import VerdictSink
from evaluators.store.explain import ConversationRecord, explain
from evaluators.store.retention import Retention
from evaluators.store.thread import StoreThread
from tests.support.clock import ManualClock
from tests.support.verdict_sink import KeepingSink


class Judging:
    def __init__(
        self,
        folder: Path,
        *setups: EvaluatorSetup,
        clock: Clock | None = None,
        sink: VerdictSink | None = None,
        limits: PipelineLimits | None = None,
        retention: Retention | None = None,
    ) -> None:
        self.clock = clock or ManualClock()
        self.sink = sink or KeepingSink()
        self.registry = CollectorRegistry()
        self.store = StoreThread(folder / "verdicts.sqlite", clock=self.clock)
        self.pipeline = JudgingPipeline(
            setups,
            store=self.store,
            sink=self.sink,
            clock=self.clock,
            random=Random(7),
            registry=self.registry,
            limits=limits,
            retention=retention,
        )

    async def explain(self, conversation_id: str) -> ConversationRecord:
        return await self.store.run(lambda connection: explain(connection, conversation_id))

    def metric(self, name: str, **labels: str) -> float:
        """The sum of all samples that have these labels."""
        return sum(
            sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


@contextlib.asynccontextmanager
async def judging(folder: Path, *setups: EvaluatorSetup, **options: object) -> AsyncIterator[Judging]:
    """Started, and at the end stopped at once: what is not done by then is as if the process had been killed."""
    found = Judging(folder, *setups, **options)  # type: ignore[arg-type]  # Options of `Judging`.
    try:
        await found.pipeline.start()
        yield found
    finally:
        await found.pipeline.shutdown(0)
        found.store.close()


def setup(evaluator, **changes: object) -> EvaluatorSetup:
    return replace(EvaluatorSetup(evaluator), **changes)  # type: ignore[arg-type]  # Fields of `EvaluatorSetup`.
