"""The vendors' own Python clients against the stand-ins: what they send is taken there, and is what Adhere sends.

This keeps the stand-ins honest: one that refused what a client sends, or that took another form, would show here.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from exporters.registry import build_exporters
from tests.integration.installed import from_pypi
from tests.integration.real_server import SCRIPT_S
from tests.support.backends.azure import KEY, AzureStandIn
from tests.support.backends.cases import CASES
from tests.support.backends.datadog import DatadogStandIn
from tests.support.backends.grafana import GrafanaStandIn
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.backends.langsmith import LangsmithStandIn
from tests.support.backends.stand_in import Scripted, StandIn
from tests.support.exporter_context import exporter_context
from tests.support.verdicts import REFUND_FAILED

pytestmark = pytest.mark.timeout(1800)

CLIENTS = (
    "langfuse==5.0.4",
    "langsmith==0.15.1",
    "sigil-sdk==0.9.3",
    "ddtrace==4.16.0",
    "azure-monitor-opentelemetry-exporter==1.0.0b58",
)
LANGFUSE = """
from langfuse.api.client import LangfuseAPI
from langfuse.api.scores.types.create_score_request import CreateScoreRequest
client = LangfuseAPI(base_url=url, username="pk-lf-1", password="sk-lf-secret")
client.scores.create(request=[CreateScoreRequest.model_validate(ours[0])])
"""
LANGSMITH = """
import uuid
from langsmith import Client
client = Client(api_url=url, api_key="lsv2-secret", auto_batch_tracing=False)
client.create_feedback(
    run_id=ours["run_id"], key=ours["key"], score=ours["score"], value=ours["value"], comment=ours["comment"],
    feedback_id=ours["id"], feedback_source_type="model", source_info=ours["feedback_source"]["metadata"],
    session_id=ours["session_id"], stop_after_attempt=1)
"""
SIGIL = """
from datetime import datetime
from sigil_sdk._experiments_transport import export_scores
from sigil_sdk.models import ScoreItem, ScoreSource, ScoreValue
[one] = ours["scores"]
one = {**one, "value": ScoreValue(**one["value"]), "source": ScoreSource(**one["source"]),
       "created_at": datetime.fromisoformat(one["created_at"].replace("Z", "+00:00"))}
headers = {"Authorization": "Basic MTIzNDpnbGMtc2VjcmV0", "X-Scope-OrgID": "1234"}
done = export_scores(api_endpoint=url, insecure=True, headers=headers, scores=[ScoreItem(**one)])
assert done.results[0].status == "duplicate", done
"""
DATADOG = """
import urllib.request
from ddtrace.llmobs._eval_metric import _build_evaluation_metric_event, _SubmissionTelemetryContext
from ddtrace.llmobs._writer import LLMObsEvalMetricWriter
[one] = ours["data"]["attributes"]["metrics"]
event = _build_evaluation_metric_event(
    label=one["label"], metric_type="score", value=one["score_value"], span=one["join_on"]["span"],
    span_with_tag_value=None, tags={"env": "test"}, ml_app=one["ml_app"], timestamp_ms=one["timestamp_ms"],
    metadata=one["metadata"], assessment=one["assessment"], reasoning=one["reasoning"], eval_scope="span",
    agent_service=None, otel_trace_enabled=True, resolve_agent_service=lambda service, app: service or app,
    submission_error_cls=ValueError, telemetry_context=_SubmissionTelemetryContext(metric_type="score"))
body = json.dumps(LLMObsEvalMetricWriter._data(None, [event])).encode()
headers = {"DD-API-KEY": "dd-secret", "Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(url + LLMObsEvalMetricWriter.ENDPOINT, body, headers))
"""
AZURE = """
import os
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from azure.monitor.opentelemetry.exporter.export.logs._exporter import _convert_log_to_envelope
[one] = ours
properties = one["data"]["baseData"]["properties"]
record = LogRecord(
    timestamp=1790000000123000000, trace_id=int(one["tags"]["ai.operation.id"], 16),
    span_id=int(one["tags"]["ai.operation.parentId"], 16), severity_number=SeverityNumber.INFO,
    attributes={**properties, "microsoft.custom_event.name": one["data"]["baseData"]["name"]})
resource = Resource({"service.name": one["tags"]["ai.cloud.role"]})
envelope = _convert_log_to_envelope(ReadableLogRecord(record, resource, InstrumentationScope("adhere.evaluation")))
envelope.instrumentation_key = one["iKey"]
print(json.dumps(envelope.as_dict(), default=str))
"""


async def sent_by_us(kind: str, stand_in: StandIn, folder: Path, **options: Any) -> Any:
    """The body of the exporter's last write."""
    case = CASES[kind]
    case.know(stand_in, REFUND_FAILED)
    [exporter] = build_exporters(kind, case.options(stand_in.url, **options), context=exporter_context(folder))
    await exporter.export([REFUND_FAILED])
    await exporter.close()
    return stand_in.writes[-1].json()


async def by_the_client(script: str, url: str, ours: Any) -> str:
    folder = await asyncio.to_thread(from_pypi, "clients", CLIENTS)
    head = "import json, sys\nurl, ours = sys.argv[1], json.loads(sys.argv[2])\n"
    quiet = {"DD_INSTRUMENTATION_TELEMETRY_ENABLED": "false", "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true"}
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "PYTHON", "DD_"))}
    done = await asyncio.to_thread(
        subprocess.run,
        [folder / "python", "-W", "ignore", "-c", head + script, url, json.dumps(ours)],
        capture_output=True,
        text=True,
        timeout=SCRIPT_S,
        env={**environ, **quiet},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def differing(ours: Any, theirs: Any) -> dict[str, tuple[Any, Any]]:
    """Fields that both have and that differ."""
    return {key: (ours[key], theirs[key]) for key in set(ours) & set(theirs) if ours[key] != theirs[key]}


async def test_langfuse(tmp_path: Path):
    async with LangfuseStandIn() as langfuse:
        [ours] = await sent_by_us("langfuse", langfuse, tmp_path)

        await by_the_client(LANGFUSE, langfuse.url, [ours])

    [theirs] = langfuse.writes[-1].json()
    assert len(langfuse.writes) == 2
    assert set(ours) == {key for key, value in theirs.items() if value is not None}
    assert not differing({**ours, "timestamp": None}, {**theirs, "timestamp": None})
    assert len(langfuse.stored) == 1


async def test_langsmith(tmp_path: Path):
    async with LangsmithStandIn() as langsmith:
        project = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
        ours = await sent_by_us("langsmith", langsmith, tmp_path, project_id=project)
        # What the client asks the server about itself first, and then takes for an answer.
        langsmith.script.append(Scripted(200, {"id": ours["id"]}, when=b'"key"'))

        await by_the_client(LANGSMITH, langsmith.url, ours)

    theirs = next(call.json() for call in reversed(langsmith.writes) if b'"key"' in call.body)
    assert langsmith.writes[-1].path == "/feedback"
    assert set(ours) <= set(theirs)
    assert set(differing(ours, theirs)) <= {"created_at", "modified_at", "feedback_source"}
    assert theirs["feedback_source"]["type"] == ours["feedback_source"]["type"]


async def test_grafana(tmp_path: Path):
    async with GrafanaStandIn() as grafana:
        ours = await sent_by_us("grafana", grafana, tmp_path)

        await by_the_client(SIGIL, grafana.url, ours)

    [mine], [theirs] = ours["scores"], grafana.writes[-1].json()["scores"]
    assert set(mine) == set(theirs)
    assert set(differing(mine, theirs)) <= {"created_at"}


async def test_datadog(tmp_path: Path):
    async with DatadogStandIn() as datadog:
        ours = await sent_by_us("datadog", datadog, tmp_path)

        await by_the_client(DATADOG, datadog.url, ours)

    [mine], [theirs] = (call.json()["data"]["attributes"]["metrics"] for call in datadog.writes)
    assert set(mine) == set(theirs)
    assert set(differing(mine, theirs)) <= {"tags"}
    assert "source:otel" in theirs["tags"]
    assert len(datadog.stored) == 1


async def test_azure(tmp_path: Path):
    async with AzureStandIn() as azure:
        [ours] = await sent_by_us("azure", azure, tmp_path)

        out = await by_the_client(AZURE, azure.url, [ours])

    theirs = json.loads(out.splitlines()[-1])
    mine, base = ours["data"]["baseData"], theirs["data"]["baseData"]
    assert theirs["name"] == ours["name"]
    assert theirs["iKey"] == ours["iKey"] == KEY
    assert theirs["data"]["baseType"] == ours["data"]["baseType"]
    assert base["name"] == mine["name"]
    assert base["ver"] == mine["ver"]
    assert not differing(mine["properties"], base["properties"])
    assert not differing(
        {**ours["tags"], "ai.internal.sdkVersion": ""}, {**theirs["tags"], "ai.internal.sdkVersion": ""}
    )
