from __future__ import annotations

from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from evaluators.verdict import JudgeInfo, Outcome
from exporters.prometheus import PrometheusExporter
from tests.support.clock import ManualClock
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TRACE_ID, verdict

REFUNDS = {"service": "shop", "agent": "refunds", "version": "2.4", "evaluator": "task_adherence"}


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def values(families: Iterable[Metric], sample: str, **labels: str) -> list[float]:
    return [
        found.value
        for family in families
        for found in family.samples
        if found.name == sample and labels.items() <= found.labels.items()
    ]


async def test_the_text_parses_and_holds_every_family(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)
    await exporter.export([REFUND_FAILED, verdict("v2", outcome=Outcome.PASS, score=1.0)])

    families = list(parse_text(generate_latest(registry).decode()))

    assert {(family.name, family.type) for family in families} == {
        ("adhere_score", "histogram"),
        ("adhere_verdicts", "counter"),
        ("adhere_judge_duration_seconds", "histogram"),
        ("adhere_judge_tokens", "counter"),
        ("adhere_judge_cost_usd", "counter"),
    }
    assert values(families, "adhere_score_bucket", le="0.2", **REFUNDS) == [0]
    assert values(families, "adhere_score_bucket", le="0.3", **REFUNDS) == [1]
    assert values(families, "adhere_score_bucket", le="+Inf", **REFUNDS) == [2]
    assert values(families, "adhere_score_sum", **REFUNDS) == [1.25]
    assert values(families, "adhere_score_count", **REFUNDS) == [2]
    assert values(families, "adhere_verdicts_total", outcome="fail", **REFUNDS) == [1]
    assert values(families, "adhere_judge_duration_seconds_bucket", le="2.5", **REFUNDS) == [2]
    assert values(families, "adhere_judge_tokens_total", direction="output", **REFUNDS) == [180]
    assert values(families, "adhere_judge_cost_usd_total", **REFUNDS) == [pytest.approx(0.003)]


async def test_only_scored_outcomes_are_in_the_histogram(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)
    verdicts = [verdict(f"v{outcome}", outcome=outcome, score=0.0) for outcome in Outcome]

    await exporter.export(verdicts)

    families = list(parse_text(generate_latest(registry).decode()))
    assert values(families, "adhere_score_count") == [2]
    assert sorted(values(families, "adhere_verdicts_total")) == [1] * len(Outcome)


async def test_verdicts_are_told_apart_by_label_and_judge(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)
    other_judge = JudgeInfo(name="judge-2", calls=1)

    await exporter.export([verdict("v1", label="refused"), verdict("v2"), verdict("v3", judge=other_judge)])

    families = list(parse_text(generate_latest(registry).decode()))
    assert values(families, "adhere_verdicts_total", outcome="fail", label="refused", model="gpt-5-mini") == [1]
    assert values(families, "adhere_verdicts_total", outcome="fail", label="fail", model="gpt-5-mini") == [1]
    assert values(families, "adhere_score_count", model="judge-2") == [1]


async def test_labels_without_end_are_counted_as_other(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)

    await exporter.export([verdict(f"v{n}", label=f"label {n}") for n in range(50)])

    families = list(parse_text(generate_latest(registry).decode()))
    assert len(values(families, "adhere_verdicts_total")) == 21
    assert values(families, "adhere_verdicts_total", label="other") == [30]


async def test_built_in_checks_take_no_judge_time(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)

    await exporter.export([verdict(judge=JudgeInfo(name="builtin", duration_s=0.001))])

    families = list(parse_text(generate_latest(registry).decode()))
    assert values(families, "adhere_judge_duration_seconds_count") == []
    assert values(families, "adhere_judge_tokens_total") == []


async def test_openmetrics_carries_the_trace_of_the_last_verdict(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)
    await exporter.export([verdict("v1", trace_id="1" * 32), REFUND_FAILED])

    families = list(parse_openmetrics(generate_openmetrics(registry).decode()))

    exemplars = {
        found.name: found.exemplar for family in families for found in family.samples if found.exemplar is not None
    }
    assert exemplars["adhere_score_bucket"].labels == {"trace_id": TRACE_ID, "span_id": SPAN_ID}
    assert exemplars["adhere_score_bucket"].value == 0.25
    assert exemplars["adhere_verdicts_total"].labels["trace_id"] == TRACE_ID


async def test_series_over_the_cap_are_counted_as_other(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock, max_series=10)

    await exporter.export([verdict(f"v{n}", agent_name=f"agent-{n}") for n in range(200)])

    families = list(parse_text(generate_latest(registry).decode()))
    assert sum(values(families, "adhere_verdicts_total")) == 200
    assert len(values(families, "adhere_verdicts_total")) == 11
    other = {"service": "other", "agent": "other", "version": "other", "evaluator": "task_adherence"}
    assert values(families, "adhere_verdicts_total", **other) == [190]


async def test_evaluator_names_without_end_are_bounded_as_well(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock, max_series=10)

    await exporter.export([verdict(f"v{n}", evaluator=f"evaluator-{n}") for n in range(500)])

    families = list(parse_text(generate_latest(registry).decode()))
    assert sum(values(families, "adhere_verdicts_total")) == 500
    assert len(values(families, "adhere_verdicts_total")) <= 111


async def test_a_series_that_rested_for_a_day_makes_room(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock, max_series=2)
    await exporter.export([verdict("v1", agent_version="1"), verdict("v2", agent_version="2")])
    await clock.advance(80_000)
    await exporter.export([verdict("v3", agent_version="2")])
    await clock.advance(10_000)

    await exporter.export([verdict("v4", agent_version="3"), verdict("v5", agent_version="4")])

    families = list(parse_text(generate_latest(registry).decode()))
    versions = {found.labels["version"] for family in families for found in family.samples}
    assert versions == {"2", "3", "other"}


async def test_hostile_names_stay_labels(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)
    name = 'a"} 1\n# TYPE x counter\\\x1b[31m' + "z" * 500

    await exporter.export([verdict(agent_name=name, service=None)])

    for text, parse in (
        (generate_latest(registry), parse_text),
        (generate_openmetrics(registry), parse_openmetrics),
    ):
        families = list(parse(text.decode()))
        [agent] = {found.labels["agent"] for family in families for found in family.samples}
        assert len(families) == 5
        assert agent.startswith('a"} 1 # TYPE x counter\\[31mzzz')
        assert len(agent) == 100
        assert values(families, "adhere_verdicts_total", service="unknown") == [1]


async def test_closing_takes_the_families_away(registry: CollectorRegistry, clock: ManualClock):
    exporter = PrometheusExporter(registry, clock=clock)

    await exporter.close()
    await exporter.close()

    assert generate_latest(registry) == b""
