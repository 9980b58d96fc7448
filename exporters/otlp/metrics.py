"""The totals as OTLP metrics, cumulative or delta.

Names and values are those of `/metrics`, with the conventions' attribute names. The resource is the judged service;
`adhere.instance.id` keeps the sums of several Adhere processes apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1 import metrics_pb2 as pb

from exporters.otlp.attributes import AttributeValue
from exporters.otlp.envelope import binary_id, by_service, key_values, resource, scope
from exporters.totals import UNKNOWN, Exemplar, Histogram, Result, Series, SeriesKey

CUMULATIVE = pb.AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
DELTA = pb.AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA


@dataclass(frozen=True, slots=True)
class _Point:
    attributes: Mapping[str, AttributeValue]
    start_ns: int
    series: Series


def metrics_request(
    totals: Mapping[SeriesKey, Series], *, now_ns: int, version: str, instance_id: str, delta: bool = False
) -> ExportMetricsServiceRequest:
    """Without points where there are no totals."""
    services = by_service(totals.items(), lambda item: None if item[0].service == UNKNOWN else item[0].service)
    return ExportMetricsServiceRequest(
        resource_metrics=[
            pb.ResourceMetrics(
                resource=resource(service, **{"adhere.instance.id": instance_id}),
                scope_metrics=[
                    pb.ScopeMetrics(
                        scope=scope(version),
                        metrics=list(_metrics(group, now_ns=now_ns, temporality=DELTA if delta else CUMULATIVE)),
                    )
                ],
            )
            for service, group in services
        ]
    )


def difference(now: Mapping[SeriesKey, Series], before: Mapping[SeriesKey, Series]) -> dict[SeriesKey, Series]:
    """What was added since; series to which nothing was added are left out."""
    found: dict[SeriesKey, Series] = {}
    for key, series in now.items():
        known = before.get(key)
        if known is None or known.start_ns != series.start_ns:
            found[key] = series.copy()
        elif known.results != series.results:
            found[key] = _less(series, known)
    return found


def _less(series: Series, known: Series) -> Series:
    return Series(
        series.start_ns,
        series.touched_s,
        _histogram_less(series.score, known.score),
        _histogram_less(series.duration, known.duration),
        {result: more for result, count in series.results.items() if (more := count - known.results.get(result, 0))},
        series.result_exemplars,
        series.input_tokens - known.input_tokens,
        series.cached_input_tokens - known.cached_input_tokens,
        series.output_tokens - known.output_tokens,
        series.cost_usd - known.cost_usd,
    )


def _histogram_less(histogram: Histogram, known: Histogram) -> Histogram:
    counts = [count - before for count, before in zip(histogram.counts, known.counts, strict=True)]
    exemplars = [exemplar if count else None for exemplar, count in zip(histogram.exemplars, counts, strict=True)]
    return Histogram(histogram.bounds, counts, exemplars, histogram.sum - known.sum)


def _metrics(
    group: Sequence[tuple[SeriesKey, Series]], *, now_ns: int, temporality: pb.AggregationTemporality.ValueType
) -> Iterator[pb.Metric]:
    points = [_Point(_attributes(key), series.start_ns, series) for key, series in group]
    judged = [point for point in points if point.series.duration.count]
    scored = [point for point in points if point.series.score.count]
    if scored:
        yield pb.Metric(
            name="adhere.score",
            description="Scores of verdicts, 0 to 1.",
            unit="1",
            histogram=pb.Histogram(
                aggregation_temporality=temporality,
                data_points=[_histogram_point(point, point.series.score, now_ns) for point in scored],
            ),
        )
    yield _sum(
        "adhere.verdicts",
        "Verdicts given.",
        "{verdict}",
        temporality,
        [
            _number_point(point, now_ns, count, _of_result(result), point.series.result_exemplars.get(result))
            for point in points
            for result, count in sorted(point.series.results.items())
        ],
    )
    if not judged:
        return
    yield pb.Metric(
        name="adhere.judge.duration",
        description="Time that judging a unit took.",
        unit="s",
        histogram=pb.Histogram(
            aggregation_temporality=temporality,
            data_points=[_histogram_point(point, point.series.duration, now_ns) for point in judged],
        ),
    )
    yield _sum(
        "adhere.judge.tokens",
        "Tokens that judging took; cached_input is a part of input.",
        "{token}",
        temporality,
        [
            _number_point(point, now_ns, count, {"adhere.token.direction": direction})
            for point in judged
            for direction, count in (
                ("input", point.series.input_tokens),
                ("cached_input", point.series.cached_input_tokens),
                ("output", point.series.output_tokens),
            )
        ],
    )
    yield _sum(
        "adhere.judge.cost_usd",
        "What judging cost, where prices are known.",
        "{USD}",
        temporality,
        [_number_point(point, now_ns, point.series.cost_usd, {}) for point in judged],
    )


def _attributes(key: SeriesKey) -> dict[str, AttributeValue]:
    return {
        "gen_ai.agent.name": key.agent,
        "gen_ai.agent.version": key.version,
        "gen_ai.evaluation.name": key.evaluator,
        "adhere.judge.model": key.model,
    }


def _of_result(result: Result) -> dict[str, AttributeValue]:
    label = {"gen_ai.evaluation.score.label": result.label} if result.label else {}
    return {"adhere.outcome": result.outcome.value, **label}


def _sum(
    name: str,
    description: str,
    unit: str,
    temporality: pb.AggregationTemporality.ValueType,
    points: list[pb.NumberDataPoint],
) -> pb.Metric:
    return pb.Metric(
        name=name,
        description=description,
        unit=unit,
        sum=pb.Sum(aggregation_temporality=temporality, is_monotonic=True, data_points=points),
    )


def _number_point(
    point: _Point,
    now_ns: int,
    value: float,
    more: Mapping[str, AttributeValue],
    exemplar: Exemplar | None = None,
) -> pb.NumberDataPoint:
    found = pb.NumberDataPoint(
        attributes=key_values({**point.attributes, **more}),
        start_time_unix_nano=point.start_ns,
        time_unix_nano=now_ns,
        exemplars=[] if exemplar is None else [_exemplar(exemplar)],
    )
    if isinstance(value, int):
        found.as_int = value
    else:
        found.as_double = value
    return found


def _histogram_point(point: _Point, histogram: Histogram, now_ns: int) -> pb.HistogramDataPoint:
    return pb.HistogramDataPoint(
        attributes=key_values(point.attributes),
        start_time_unix_nano=point.start_ns,
        time_unix_nano=now_ns,
        count=histogram.count,
        sum=histogram.sum,
        explicit_bounds=histogram.bounds,
        bucket_counts=histogram.counts,
        exemplars=[_exemplar(exemplar) for exemplar in histogram.exemplars if exemplar is not None],
    )


def _exemplar(exemplar: Exemplar) -> pb.Exemplar:
    return pb.Exemplar(
        time_unix_nano=exemplar.time_ns,
        as_double=exemplar.value,
        trace_id=binary_id(exemplar.trace_id, size=16),
        span_id=binary_id(exemplar.span_id, size=8),
    )
