"""What the parts of the pipeline share."""

from __future__ import annotations

from dataclasses import dataclass

from collector.clock import Clock
from evaluators.pipeline.asking import Asking
from evaluators.pipeline.durably import DurableStore
from evaluators.pipeline.limits import PipelineLimits
from evaluators.pipeline.metrics import PipelineMetrics
from evaluators.pipeline.setup import EvaluatorSetup


@dataclass(frozen=True, slots=True)
class Shared:
    setups: tuple[EvaluatorSetup, ...]
    store: DurableStore
    asking: Asking
    clock: Clock
    metrics: PipelineMetrics
    limits: PipelineLimits
