"""Scores as Prometheus metrics: `adhere_score`, `adhere_verdicts_total`, and what judging takes.

Totals live in memory and start anew with the process, as Prometheus expects. Scraped as OpenMetrics, buckets and
counters carry the trace id of the last verdict behind them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar as SampleExemplar

from collector.clock import Clock
from evaluators.verdict import Verdict
from exporters.totals import Exemplar, Histogram, VerdictTotals

LABELS = ("service", "agent", "version", "evaluator", "model")


class PrometheusExporter:
    def __init__(
        self, registry: CollectorRegistry, *, clock: Clock, name: str = "prometheus", max_series: int = 500
    ) -> None:
        self.name = name
        self._totals = VerdictTotals(clock=clock, max_series=max_series)
        self._registry = registry
        self._collector = _TotalsCollector(self._totals)
        self._registered = True
        registry.register(self._collector)

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        self._totals.add(verdicts)

    async def close(self) -> None:
        if self._registered:
            self._registered = False
            self._registry.unregister(self._collector)


class _TotalsCollector(Collector):
    def __init__(self, totals: VerdictTotals) -> None:
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        scores = HistogramMetricFamily("adhere_score", "Scores of verdicts, 0 to 1.", labels=LABELS)
        verdicts = CounterMetricFamily("adhere_verdicts", "Verdicts given.", labels=(*LABELS, "outcome", "label"))
        durations = HistogramMetricFamily(
            "adhere_judge_duration_seconds", "Time that judging a unit took.", labels=LABELS
        )
        tokens = CounterMetricFamily(
            "adhere_judge_tokens",
            "Tokens that judging took; `cached_input` is a part of `input`.",
            labels=(*LABELS, "direction"),
        )
        cost = CounterMetricFamily("adhere_judge_cost_usd", "What judging cost, where prices are known.", labels=LABELS)
        for key, series in self._totals.snapshot().items():
            labels = [key.service, key.agent, key.version, key.evaluator, key.model]
            if series.score.count:
                scores.add_metric(labels, _buckets(series.score), series.score.sum)
            for result, count in sorted(series.results.items()):
                exemplar = _sample_exemplar(series.result_exemplars.get(result))
                verdicts.add_metric([*labels, result.outcome.value, result.label], count, exemplar=exemplar)
            if series.duration.count:
                durations.add_metric(labels, _buckets(series.duration), series.duration.sum)
                for direction, count in (
                    ("input", series.input_tokens),
                    ("cached_input", series.cached_input_tokens),
                    ("output", series.output_tokens),
                ):
                    tokens.add_metric([*labels, direction], count)
                cost.add_metric(labels, series.cost_usd)
        yield from (scores, verdicts, durations, tokens, cost)


def _buckets(histogram: Histogram) -> list[tuple[str, float] | tuple[str, float, SampleExemplar]]:
    """Cumulative, as the format asks."""
    found: list[tuple[str, float] | tuple[str, float, SampleExemplar]] = []
    total = 0
    for bound, count, exemplar in zip(
        (*histogram.bounds, float("inf")), histogram.counts, histogram.exemplars, strict=True
    ):
        total += count
        shown = _sample_exemplar(exemplar)
        name = "+Inf" if math.isinf(bound) else str(bound)
        found.append((name, total) if shown is None else (name, total, shown))
    return found


def _sample_exemplar(exemplar: Exemplar | None) -> SampleExemplar | None:
    if exemplar is None:
        return None
    return SampleExemplar(
        {"trace_id": exemplar.trace_id, "span_id": exemplar.span_id}, exemplar.value, exemplar.time_ns / 1e9
    )
