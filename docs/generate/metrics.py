"""The tables of `docs/metrics.md`: every metric that the two processes register, and what the OTLP exporter pushes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from adhere.run.loop_lag import measure_loop_lag
from collector.clock import SystemClock
from collector.enrich.metrics import HoldMetrics
from collector.journal.metrics import JournalMetrics
from collector.live.metrics import LiveMetrics
from collector.otlp.metrics import ReceiverMetrics
from collector.relay.metrics import RelayMetrics
from docs.generate.markdown import code, table
from docs.generate.sample_verdict import SAMPLE
from evaluators.judge.metrics import JudgeMetrics
from evaluators.measuring.calibration import Calibrations
from evaluators.measuring.calibration_metrics import show_calibrations
from evaluators.pipeline.metrics import PipelineMetrics
from exporters.metrics import ExportMetrics
from exporters.otlp.metrics import metrics_request
from exporters.prometheus import PrometheusExporter
from exporters.totals import VerdictTotals

_HEAD = ("metric", "type", "labels", "meaning")


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    """As it stands in queries: counters with `_total`, histograms without `_bucket`."""
    type: str
    labels: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    process: str
    register: Callable[[CollectorRegistry], object]


def _scores(registry: CollectorRegistry) -> None:
    exporter = PrometheusExporter(registry, clock=SystemClock())
    asyncio.run(exporter.export([SAMPLE]))


def _loop_lag(registry: CollectorRegistry) -> None:
    async def begin() -> None:
        task = asyncio.create_task(measure_loop_lag(registry, process="collector", clock=SystemClock()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(begin())


_SECTIONS: Sequence[_Section] = (
    _Section("Scores", "evaluator; with the exporter `prometheus`", _scores),
    _Section("Receivers", "collector", ReceiverMetrics),
    _Section(
        "Journal",
        'collector (writing, relays), evaluator (its reader, with the label `process="evaluator"`)',
        JournalMetrics,
    ),
    _Section(
        "Relay",
        'collector; of relays that enrich, evaluator, with the label `process="evaluator"`',
        RelayMetrics,
    ),
    _Section("Enriching", "evaluator; with a relay that enriches", HoldMetrics),
    _Section("Conversations", "evaluator", LiveMetrics),
    _Section("Judging", "evaluator", PipelineMetrics),
    _Section("Judge", "evaluator; with a judge", JudgeMetrics),
    _Section(
        "Calibration",
        "evaluator; of judges that `adhere calibrate` has measured",
        lambda registry: show_calibrations(registry, [], Calibrations()),
    ),
    _Section("Exports", "evaluator", ExportMetrics),
    _Section("Event loop", "both, told apart by the label `process`", _loop_lag),
)


def prometheus_metrics() -> str:
    parts = []
    for section in _SECTIONS:
        rows = [[code(one.name), one.type, _labels(one.labels), one.meaning] for one in _families(section.register)]
        parts.append(f"### {section.title}\n\nProcess: {section.process}.\n\n{table(_HEAD, rows)}")
    return "\n\n".join(parts)


def families() -> Mapping[str, Family]:
    return {family.name: family for section in _SECTIONS for family in _families(section.register)}


def otlp_metrics() -> str:
    totals = VerdictTotals(clock=SystemClock())
    totals.add([SAMPLE])
    request = metrics_request(totals.snapshot(), now_ns=0, version="0", instance_id="0")
    rows = [
        [code(metric.name), _otlp_type(metric), code(metric.unit), _labels(_attributes(metric)), metric.description]
        for group in request.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    ]
    return table(("metric", "type", "unit", "attributes", "meaning"), rows)


class _Recorder(CollectorRegistry):
    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        self.collectors.append(collector)
        super().register(collector)


def _families(register: Callable[[CollectorRegistry], object]) -> Iterator[Family]:
    recorder = _Recorder()
    register(recorder)
    for collector in recorder.collectors:
        for metric in collector.collect():
            if isinstance(collector, MetricWrapperBase):
                labels: tuple[str, ...] = tuple(collector._labelnames)  # noqa: SLF001 - told nowhere else without a sample
            else:
                labels = tuple(name for name in metric.samples[0].labels if name != "le")
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            yield Family(name, metric.type, labels, metric.documentation)


def _labels(names: Sequence[str]) -> str:
    return ", ".join(map(code, names)) or "-"


def _otlp_type(metric: Metric) -> str:
    return {"sum": "counter", "histogram": "histogram"}[str(metric.WhichOneof("data"))]


def _attributes(metric: Metric) -> list[str]:
    points = metric.sum.data_points or metric.histogram.data_points
    return [pair.key for pair in points[0].attributes]
