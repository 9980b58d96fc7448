"""Counts what a transaction did, once it is on disk: the one place where a decision becomes a number."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.pipeline.metrics import PipelineMetrics
from evaluators.pipeline.tally import Tally
from evaluators.verdict import Verdict


def count_tallies(metrics: PipelineMetrics, tallies: Iterable[Tally]) -> None:
    for tally in tallies:
        if tally.kind is None:
            metrics.unchanged.labels(tally.evaluator).inc()
        elif tally.is_final:
            metrics.decisions.labels(tally.evaluator, tally.kind.value, metrics.code(tally.code)).inc()
        else:
            metrics.deferrals.labels(tally.evaluator, tally.kind.value).inc()


def count_verdict(metrics: PipelineMetrics, verdict: Verdict) -> None:
    metrics.verdicts.labels(verdict.evaluator, verdict.outcome.value).inc()
    if verdict.injection_suspected:
        metrics.injections.labels(verdict.evaluator).inc()
