"""Traces relayed to a real Phoenix, scores written to it, read back with its own client."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from exporters.errors import PartialExportError, TargetUnknownError
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
SPANS = """
import httpx
from phoenix.client import Client
try:
    found = Client(base_url=url).spans.get_span_annotations(span_ids=arguments, project_identifier="default")
except httpx.HTTPStatusError as err:
    assert err.response.status_code == 404
    found = []
print(json.dumps([dict(item) for item in found], default=str))
"""
# The client writes annotations of sessions and does not read them.
SESSIONS = """
import httpx
found = httpx.get(url + "/v1/projects/default/session_annotations", params={"session_ids": arguments, "limit": 100})
assert found.status_code in (200, 404), found.text
print(json.dumps(found.json()["data"] if found.status_code == 200 else []))
"""

# Its client finds spans by time and kind; the newest come first.
EVALUATION_SPANS = """
from phoenix.client import Client
found = Client(base_url=url).spans.get_spans(project_identifier="default", limit=1000)
print(json.dumps([dict(one) for one in found if one["context"]["trace_id"] in arguments], default=str))
"""


def spans_of(server: RunningServer, *span_ids: str) -> list[Any]:
    return list(server.ask(SPANS, *span_ids))


def build(server: RunningServer, folder: Path) -> ScoreExporter:
    [exporter] = build_exporters("phoenix", {"endpoint": server.url}, context=exporter_context(folder))
    assert isinstance(exporter, ScoreExporter)
    return exporter


async def test_scores_stand_beside_the_spans_that_they_judge(phoenix: RunningServer, tmp_path: Path):
    with JudgeServer(honest) as judge:
        async with running_adhere(
            tmp_path,
            relay=[{"name": "phoenix", "endpoint": phoenix.url, "protocol": "http/protobuf"}],
            judge={"base_url": judge.base_url, "model": "scripted-judge", "api_key": "test"},
            evaluators=[RULES, {"task_adherence": {"on": "conversation"}}],
            exporters=[{"phoenix": {"endpoint": phoenix.url}}, "jsonl"],
        ) as (_, addresses):
            turns = await run_app(f"http://{addresses.http}", protocol="http", conversation_id="visit-7")

            lines = tmp_path / "data" / "verdicts.jsonl"
            await until(lambda: lines.exists() and lines.read_bytes().count(b"\n") >= 3, timeout_s=120)
            on_spans: list[Any] = []
            on_session: list[Any] = []
            for _ in range(30):
                on_spans = await asyncio.to_thread(spans_of, phoenix, *(turn["span_id"] for turn in turns))
                on_session = list(await asyncio.to_thread(phoenix.ask, SESSIONS, "visit-7"))
                if len(on_spans) >= len(turns) and on_session:
                    break
                await asyncio.sleep(1)

    rules = {item["span_id"]: item for item in on_spans if item["name"] == "rules"}
    assert set(rules) == {turn["span_id"] for turn in turns}
    assert rules[turns[0]["span_id"]]["result"]["label"] == "fail"
    assert "renew_loan" in rules[turns[0]["span_id"]]["result"]["explanation"]
    assert rules[turns[0]["span_id"]]["annotator_kind"] == "CODE"
    assert {item["name"] for item in on_session} == {"task_adherence"}
    assert {item["annotator_kind"] for item in on_session} == {"LLM"}


async def test_a_score_that_comes_before_its_span_waits_and_a_resend_overwrites(phoenix: RunningServer, tmp_path: Path):
    item = verdict(secrets.token_hex(16), trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))
    exporter = build(phoenix, tmp_path)

    with pytest.raises(PartialExportError) as caught:
        await exporter.export([item])
    await send_span(phoenix.url, trace_id=item.trace_id, span_id=item.span_id)
    for _ in range(60):
        try:
            await exporter.export([item])
            break
        except PartialExportError:
            await asyncio.sleep(0.5)
    await exporter.export([dataclasses.replace(item, reason="Sent again.")])
    await exporter.close()

    assert isinstance(caught.value.failures[item.id], TargetUnknownError)
    [found] = await asyncio.to_thread(spans_of, phoenix, item.span_id)
    assert found["identifier"] == item.id
    assert found["result"] == {"label": "fail", "score": 0.25, "explanation": "Sent again."}


async def test_many_scores_of_which_some_have_no_span(phoenix: RunningServer, tmp_path: Path):
    trace_id = secrets.token_hex(16)
    items = [verdict(secrets.token_hex(16), trace_id=trace_id, span_id=secrets.token_hex(8)) for _ in range(40)]
    known = items[::3]
    for item in known:
        await send_span(phoenix.url, trace_id=trace_id, span_id=item.span_id)
    exporter = build(phoenix, tmp_path)

    failed: set[str] = set()
    for _ in range(60):
        try:
            await exporter.export(items)
        except PartialExportError as err:
            failed = set(err.failures)
        if len(failed) == len(items) - len(known):
            break
        await asyncio.sleep(0.5)
    await exporter.close()

    assert failed == {item.id for item in items} - {item.id for item in known}


async def test_the_command_writes_a_score_and_reads_it_back(phoenix: RunningServer, tmp_path: Path):
    config = write_config(tmp_path, exporters=[{"phoenix": {"endpoint": phoenix.url}}])
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)

    unknown = await run_adhere("exporters", "test", "phoenix", "-c", config)
    await send_span(phoenix.url, trace_id=trace_id, span_id=span_id)
    arguments = ("exporters", "test", "phoenix", "-c", config, "--trace-id", trace_id, "--span-id", span_id)
    until_s = time.monotonic() + 60
    while (found := await run_adhere(*arguments)).code != 0 and time.monotonic() < until_s:
        await asyncio.sleep(0.5)

    assert unknown.code == 1
    assert "does not know the span" in unknown.err
    assert "--trace-id" in unknown.err
    assert found.code == 0, found.err
    assert f"gave it back: annotation adhere_test on the span {span_id}" in found.out


async def test_evaluation_spans_are_taken_into_the_trace_that_they_judge(phoenix: RunningServer, tmp_path: Path):
    item = verdict(secrets.token_hex(16), trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))
    await send_span(phoenix.url, trace_id=item.trace_id, span_id=item.span_id)
    options = {"endpoint": phoenix.url, "protocol": "http/protobuf", "events": False, "metrics": False}
    [exporter] = build_exporters("otlp", options, context=exporter_context(tmp_path))

    await exporter.export([item])
    await exporter.export([item])
    await exporter.close()
    found: list[Any] = []
    for _ in range(60):
        found = await asyncio.to_thread(phoenix.ask, EVALUATION_SPANS, item.trace_id)
        if len(found) == 2:
            break
        await asyncio.sleep(0.5)

    [target] = [one for one in found if one["context"]["span_id"] == item.span_id]
    [evaluation] = [one for one in found if one is not target]
    assert evaluation["parent_id"] == item.span_id
    assert evaluation["span_kind"] == "EVALUATOR"
    assert evaluation["name"] == f"evaluation {item.evaluator}"
