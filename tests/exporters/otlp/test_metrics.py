from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric
from prometheus_client import CollectorRegistry

from collector.errors import RetryableError
from evaluators.verdict import JudgeInfo, Outcome
from exporters.metrics import ExportMetrics
from exporters.otlp.metric_exporter import OtlpMetricExporter
from tests.support.attributes import plain
from tests.support.clock import ManualClock
from tests.support.scripted_sender import ScriptedSender
from tests.support.verdicts import REFUND_FAILED, TRACE_ID, verdict


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def sender() -> ScriptedSender:
    return ScriptedSender()


def exporter(sender: ScriptedSender, clock: ManualClock, **options: object) -> OtlpMetricExporter:
    return OtlpMetricExporter("m", sender=sender, clock=clock, version="1.2.3", instance_id="host-1", **options)


def pushed(sender: ScriptedSender) -> deque[Mapping[str, Metric]]:
    found: deque[Mapping[str, Metric]] = deque()
    for body in sender.sent:
        request = ExportMetricsServiceRequest.FromString(body)
        found.append({metric.name: metric for metric in request.resource_metrics[0].scope_metrics[0].metrics})
    return found


async def test_all_that_is_measured_is_pushed(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock)
    await metrics.export([REFUND_FAILED, verdict("v2", outcome=Outcome.PASS, score=1.0, label=None)])

    await metrics.push()

    request = ExportMetricsServiceRequest.FromString(sender.sent[0])
    [resource] = request.resource_metrics
    assert plain(resource.resource.attributes) == {"service.name": "shop", "adhere.instance.id": "host-1"}
    assert resource.scope_metrics[0].scope.name == "adhere.evaluation"
    found = pushed(sender)[0]
    assert {name: metric.unit for name, metric in found.items()} == {
        "adhere.score": "1",
        "adhere.verdicts": "{verdict}",
        "adhere.judge.duration": "s",
        "adhere.judge.tokens": "{token}",
        "adhere.judge.cost_usd": "{USD}",
    }
    [score] = found["adhere.score"].histogram.data_points
    assert (score.count, score.sum, len(score.bucket_counts)) == (2, 1.25, len(score.explicit_bounds) + 1)
    assert plain(score.attributes) == {
        "gen_ai.agent.name": "refunds",
        "gen_ai.agent.version": "2.4",
        "gen_ai.evaluation.name": "task_adherence",
        "adhere.judge.model": "gpt-5-mini",
    }
    assert {exemplar.trace_id.hex() for exemplar in score.exemplars} == {TRACE_ID}
    results = {
        (attributes["adhere.outcome"], attributes["gen_ai.evaluation.score.label"]): point.as_int
        for point in found["adhere.verdicts"].sum.data_points
        for attributes in [plain(point.attributes)]
    }
    tokens = {
        plain(point.attributes)["adhere.token.direction"]: point.as_int
        for point in found["adhere.judge.tokens"].sum.data_points
    }
    assert results == {("pass", "pass"): 1, ("fail", "fail"): 1}
    assert tokens == {"input": 2400, "cached_input": 1600, "output": 180}
    assert found["adhere.judge.cost_usd"].sum.data_points[0].as_double == pytest.approx(0.003)


async def test_outcomes_without_a_score_are_counted_and_not_scored(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock)
    await metrics.export([verdict(outcome=Outcome.ERROR, score=0.0, error_type="x", judge=JudgeInfo(name="builtin"))])

    await metrics.push()

    found = pushed(sender)[0]
    assert found.keys() == {"adhere.verdicts"}
    assert "gen_ai.evaluation.score.label" not in plain(found["adhere.verdicts"].sum.data_points[0].attributes)


async def test_cumulative_points_grow_from_one_start(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock)
    start_ns = clock.now_ns()
    await metrics.export([REFUND_FAILED])
    await metrics.push()
    await clock.advance(60)
    await metrics.export([verdict("v2")])

    await metrics.push()

    points = [found["adhere.verdicts"].sum.data_points[0] for found in pushed(sender)]
    assert [point.as_int for point in points] == [1, 2]
    assert {point.start_time_unix_nano for point in points} == {start_ns}
    assert pushed(sender)[0]["adhere.verdicts"].sum.aggregation_temporality == (
        AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    )


async def test_delta_points_hold_what_came_since_the_last_push(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock, delta=True)
    await metrics.export([REFUND_FAILED])
    await metrics.push()
    first_ns = clock.now_ns()
    await clock.advance(60)
    await metrics.export([verdict("v2", outcome=Outcome.PASS, score=0.75), verdict("v3", agent_name="sales")])

    await metrics.push()
    await metrics.push()

    assert len(sender.sent) == 2
    second = pushed(sender)[1]
    points = {
        (plain(point.attributes)["gen_ai.agent.name"], plain(point.attributes)["adhere.outcome"]): point
        for point in second["adhere.verdicts"].sum.data_points
    }
    assert {key: point.as_int for key, point in points.items()} == {("refunds", "pass"): 1, ("sales", "fail"): 1}
    assert points["refunds", "pass"].start_time_unix_nano == first_ns
    scores = {
        plain(point.attributes)["gen_ai.agent.name"]: point.sum
        for point in second["adhere.score"].histogram.data_points
    }
    assert scores == {"refunds": 0.75, "sales": 0.25}
    assert second["adhere.score"].histogram.aggregation_temporality == (
        AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
    )


async def test_a_delta_that_did_not_get_through_is_in_the_next_one(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock, delta=True)
    sender.script.append(RetryableError("Away."))
    await metrics.export([REFUND_FAILED])
    with pytest.raises(RetryableError):
        await metrics.push()
    await metrics.export([verdict("v2")])

    await metrics.push()

    assert pushed(sender)[0]["adhere.verdicts"].sum.data_points[0].as_int == 2


async def test_metrics_are_pushed_at_each_interval_and_a_failure_ends_nothing(
    sender: ScriptedSender, clock: ManualClock
):
    registry = CollectorRegistry()
    metrics = exporter(sender, clock, interval_s=60, failures=ExportMetrics(registry).push_failures)
    sender.script.extend([RetryableError("Away."), ValueError("broken")])
    running = asyncio.ensure_future(metrics.run())
    await metrics.export([REFUND_FAILED])
    await asyncio.sleep(0)

    for _ in range(4):
        await clock.advance(60)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert len(sender.tried) == 4
    assert len(sender.sent) == 2
    assert registry.get_sample_value("adhere_export_push_failures_total", {"exporter": "m"}) == 2


async def test_closing_pushes_once_more_and_closes_the_sender(sender: ScriptedSender, clock: ManualClock):
    metrics = exporter(sender, clock)
    await metrics.export([REFUND_FAILED])

    await metrics.close()
    await metrics.close()

    assert len(sender.sent) == 1
    assert sender.closed


async def test_nothing_is_pushed_where_there_is_nothing(sender: ScriptedSender, clock: ManualClock):
    await exporter(sender, clock).push()

    assert sender.tried == []
