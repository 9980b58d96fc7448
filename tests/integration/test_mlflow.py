"""Traces relayed to a real MLflow, scores written to it, read back with its own client."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from pathlib import Path
from typing import Any

import pytest

from evaluators.verdict import Outcome, UnitKind
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.mlflow import assessment_id
from exporters.registry import build_exporters
from exporters.scores.exporter import ScoreExporter
from tests.integration.real_server import RunningServer
from tests.support.agent_run import run_app
from tests.support.command_line import run_adhere
from tests.support.exporter_context import exporter_context
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.one_span import send_span
from tests.support.running_adhere import running_adhere, write_config
from tests.support.until import until
from tests.support.verdicts import verdict

pytestmark = pytest.mark.timeout(1800)

RULES = {"rules": {"rules": [{"name": "member first", "before": "renew_loan", "require": "check_member"}]}}
EXPERIMENT = {"x-mlflow-experiment-id": "0"}
ASSESSMENTS = """
from mlflow import MlflowClient
client = MlflowClient(tracking_uri=url)
found = [client.get_trace(one).info for one in arguments]
print(json.dumps([item.to_dictionary() for info in found for item in info.assessments], default=str))
"""

SPANS = """
from mlflow import MlflowClient
trace = MlflowClient(tracking_uri=url).get_trace(arguments[0])
print(json.dumps([{"name": one.name, "id": one.span_id, "parent": one.parent_id, "attributes": one.attributes}
                  for one in trace.data.spans], default=str))
"""


def assessments(server: RunningServer, *trace_ids: str) -> list[Any]:
    return list(server.ask(ASSESSMENTS, *(f"tr-{one}" for one in dict.fromkeys(trace_ids))))


def build(server: RunningServer, folder: Path) -> ScoreExporter:
    options = {"tracking_uri": server.url, "timeout_s": 60}
    [exporter] = build_exporters("mlflow", options, context=exporter_context(folder))
    assert isinstance(exporter, ScoreExporter)
    return exporter


async def test_scores_stand_beside_the_traces_that_they_judge(mlflow: RunningServer, tmp_path: Path):
    with JudgeServer(honest) as judge:
        async with running_adhere(
            tmp_path,
            relay=[{"name": "mlflow", "endpoint": mlflow.url, "protocol": "http/protobuf", "headers": EXPERIMENT}],
            judge={"base_url": judge.base_url, "model": "scripted-judge", "api_key": "test"},
            evaluators=[RULES, {"task_adherence": {"on": "conversation"}}],
            exporters=[{"mlflow": {"tracking_uri": mlflow.url, "timeout_s": 60}}, "jsonl"],
        ) as (_, addresses):
            turns = await run_app(f"http://{addresses.http}", protocol="http", conversation_id="visit-8")

            lines = tmp_path / "data" / "verdicts.jsonl"
            await until(lambda: lines.exists() and lines.read_bytes().count(b"\n") >= 3, timeout_s=120)
            found: list[Any] = []
            for _ in range(30):
                found = await asyncio.to_thread(assessments, mlflow, *(turn["trace_id"] for turn in turns))
                if len(found) >= len(turns) + 1:
                    break
                await asyncio.sleep(1)

    rules = {item["span_id"]: item for item in found if item["assessment_name"] == "rules"}
    assert set(rules) == {turn["span_id"] for turn in turns}
    assert rules[turns[0]["span_id"]]["feedback"]["value"] == 0.0
    assert "renew_loan" in rules[turns[0]["span_id"]]["rationale"]
    assert rules[turns[0]["span_id"]]["source"] == {"source_type": "CODE", "source_id": "builtin"}
    [whole] = [item for item in found if item["assessment_name"] == "task_adherence"]
    assert whole["trace_id"] == f"tr-{turns[-1]['trace_id']}"
    assert whole["source"]["source_type"] == "LLM_JUDGE"
    assert whole["metadata"]["mlflow.trace.session"] == "visit-8"


async def test_a_score_that_comes_before_its_trace_waits_and_a_resend_overwrites(mlflow: RunningServer, tmp_path: Path):
    item = verdict(secrets.token_hex(16), trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))
    exporter = build(mlflow, tmp_path)

    with pytest.raises(PartialExportError) as caught:
        await exporter.export([item])
    await send_span(mlflow.url, trace_id=item.trace_id, span_id=item.span_id, headers=EXPERIMENT)
    await exporter.export([item])
    await exporter.export([dataclasses.replace(item, reason="Sent again.")])
    await exporter.close()

    assert isinstance(caught.value.failures[item.id], TargetUnknownError)
    [found] = await asyncio.to_thread(assessments, mlflow, item.trace_id)
    assert found["assessment_id"] == assessment_id(item.id)
    assert found["feedback"]["value"] == 0.25
    assert found["rationale"] == "Sent again."
    assert found["span_id"] == item.span_id


async def test_failed_evaluations_are_errors_and_revisions_override(mlflow: RunningServer, tmp_path: Path):
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    await send_span(mlflow.url, trace_id=trace_id, span_id=span_id, headers=EXPERIMENT)
    failed = verdict(
        secrets.token_hex(16),
        trace_id=trace_id,
        span_id=span_id,
        outcome=Outcome.ERROR,
        score=None,
        label=None,
        error_type="judge_timeout",
    )
    first = verdict(secrets.token_hex(16), trace_id=trace_id, span_id=span_id, unit_kind=UnitKind.CONVERSATION)
    second = dataclasses.replace(first, id=secrets.token_hex(16), supersedes=first.id, revision=1, score=0.75)
    exporter = build(mlflow, tmp_path)

    await exporter.export([failed, first])
    await exporter.export([second])
    await exporter.close()

    found = {item["assessment_id"]: item for item in await asyncio.to_thread(assessments, mlflow, trace_id)}
    error = found[assessment_id(failed.id)]["feedback"]
    assert error["error"]["error_code"] == "judge_timeout"
    assert error.get("value") is None
    assert not found[assessment_id(first.id)].get("valid", False)
    assert found[assessment_id(second.id)]["valid"]
    assert found[assessment_id(second.id)]["overrides"] == assessment_id(first.id)


async def test_the_command_writes_a_score_and_reads_it_back(mlflow: RunningServer, tmp_path: Path):
    config = write_config(tmp_path, exporters=[{"mlflow": {"tracking_uri": mlflow.url, "timeout_s": 60}}])
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    await send_span(mlflow.url, trace_id=trace_id, span_id=span_id, headers=EXPERIMENT)

    unknown = await run_adhere("exporters", "test", "mlflow", "-c", config)
    found = await run_adhere(
        *("exporters", "test", "mlflow", "-c", config, "--trace-id", trace_id, "--span-id", span_id)
    )

    assert unknown.code == 1
    assert "does not know the span" in unknown.err
    assert found.code == 0, found.err
    assert f"on the trace tr-{trace_id}" in found.out


async def test_evaluation_spans_are_taken_into_the_trace_that_they_judge(mlflow: RunningServer, tmp_path: Path):
    item = verdict(secrets.token_hex(16), trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))
    await send_span(mlflow.url, trace_id=item.trace_id, span_id=item.span_id, headers=EXPERIMENT)
    options = {
        "endpoint": mlflow.url,
        "protocol": "http/protobuf",
        "headers": EXPERIMENT,
        "timeout_s": 60,
        "events": False,
        "metrics": False,
    }
    [exporter] = build_exporters("otlp", options, context=exporter_context(tmp_path))

    await exporter.export([item])
    await exporter.export([item])
    await exporter.close()

    found = await asyncio.to_thread(mlflow.ask, SPANS, f"tr-{item.trace_id}")
    [evaluation] = [one for one in found if one["parent"] == item.span_id]
    assert len(found) == 2
    assert evaluation["name"] == f"evaluation {item.evaluator}"
    assert evaluation["attributes"]["gen_ai.evaluation.score.label"] == "fail"
