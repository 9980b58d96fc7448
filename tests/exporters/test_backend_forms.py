"""What each backend gets, field by field, and what its API makes necessary. Ids, times and names as they document."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import JudgeInfo, Outcome, UnitKind, Verdict
from exporters.datadog import label
from exporters.errors import ExporterConfigError, PartialExportError
from exporters.langsmith import run_id
from exporters.opik import opik_id
from exporters.registry import build_exporters
from tests.support.backends.azure import AzureStandIn
from tests.support.backends.braintrust import BraintrustStandIn
from tests.support.backends.cases import CASES
from tests.support.backends.datadog import DatadogStandIn
from tests.support.backends.grafana import GrafanaStandIn
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.backends.langsmith import LangsmithStandIn
from tests.support.backends.mlflow import MlflowStandIn
from tests.support.backends.opik import OpikStandIn
from tests.support.backends.stand_in import Scripted, StandIn
from tests.support.backends.weave import WeaveStandIn
from tests.support.exporter_context import exporter_context
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TRACE_ID, verdict

ON_CONVERSATION = dataclasses.replace(REFUND_FAILED, unit_kind=UnitKind.CONVERSATION)
REVISED = dataclasses.replace(ON_CONVERSATION, id="f" * 32, supersedes=ON_CONVERSATION.id, revision=1, score=0.75)
AT = "2026-09-21T14:13:20.123Z"


async def export(kind: str, stand_in: StandIn, folder: Path, *items: Verdict, **options: Any) -> None:
    case = CASES[kind]
    for item in items:
        case.know(stand_in, item)
    [exporter] = build_exporters(kind, case.options(stand_in.url, **options), context=exporter_context(folder))
    try:
        await exporter.export(items)
    finally:
        await exporter.close()


async def test_langfuse_keeps_id_and_time_so_that_a_resend_overwrites(tmp_path: Path):
    async with LangfuseStandIn() as langfuse:
        await export("langfuse", langfuse, tmp_path, REFUND_FAILED, environment="production")

    [found] = langfuse.writes[0].json()
    assert found["id"] == REFUND_FAILED.id
    assert found["timestamp"] == AT
    assert (found["traceId"], found["observationId"]) == (TRACE_ID, SPAN_ID)
    assert (found["name"], found["value"], found["dataType"]) == ("task_adherence", 0.25, "NUMERIC")
    assert found["comment"] == REFUND_FAILED.reason
    assert found["environment"] == "production"


async def test_langfuse_has_conversations_as_sessions_and_drops_what_is_superseded(tmp_path: Path):
    async with LangfuseStandIn() as langfuse:
        await export("langfuse", langfuse, tmp_path, ON_CONVERSATION)
        await export("langfuse", langfuse, tmp_path, REVISED)

    [found] = langfuse.stored.values()
    assert (found["sessionId"], found["id"], found["value"]) == ("conv-1", REVISED.id, 0.75)
    assert "traceId" not in found


async def test_an_older_langfuse_that_takes_no_lists_gets_one_score_a_call(tmp_path: Path):
    async with LangfuseStandIn() as langfuse:
        langfuse.takes_lists = False
        options = CASES["langfuse"].options(langfuse.url)
        [exporter] = build_exporters("langfuse", options, context=exporter_context(tmp_path))

        with pytest.raises(PermanentError):
            # The outbox splits what is refused, until one alone shows how the server is.
            await exporter.export([verdict("v1"), verdict("v2")])
        await exporter.export([verdict("v1")])
        await exporter.export([verdict("v2"), verdict("v3")])
        await exporter.close()

    assert {item["id"] for item in langfuse.stored.values()} == {"v1", "v2", "v3"}


async def test_scores_that_langfuse_refused_in_part_are_not_taken_for_delivered(tmp_path: Path):
    async with LangfuseStandIn() as langfuse:
        langfuse.script.append(Scripted(207, {"accepted": 1, "rejected": 1, "errors": [{"message": "No."}]}))

        with pytest.raises(PermanentError, match="refused 1 of the scores"):
            await export("langfuse", langfuse, tmp_path, verdict("v1"), verdict("v2"))


async def test_langsmith_has_the_run_of_the_span_and_changes_what_is_there(tmp_path: Path):
    async with LangsmithStandIn() as langsmith:
        await export("langsmith", langsmith, tmp_path, REFUND_FAILED)
        await export("langsmith", langsmith, tmp_path, dataclasses.replace(REFUND_FAILED, score=0.5))

    [found] = langsmith.stored.values()
    assert found["run_id"] == "00000000-0000-0000-b7ad-6b7169203331" == str(run_id(SPAN_ID))
    assert (found["key"], found["score"], found["value"]) == ("task_adherence", 0.5, "fail")
    assert found["feedback_source"]["type"] == "model"
    assert [call.method for call in langsmith.calls] == ["POST", "POST", "PATCH"]


async def test_langsmith_has_failed_evaluations_as_errors_and_drops_what_is_superseded(tmp_path: Path):
    failed = verdict("v1", outcome=Outcome.ERROR, score=None, label=None, error_type="judge_timeout")
    async with LangsmithStandIn() as langsmith:
        await export("langsmith", langsmith, tmp_path, failed, ON_CONVERSATION)
        await export("langsmith", langsmith, tmp_path, REVISED)

    error, revised = langsmith.stored.values()
    assert (error["error"], error["value"], "score" in error) == (True, "judge_timeout", False)
    assert revised["score"] == 0.75


def test_opik_ids_are_a_time_and_a_hash():
    found = opik_id(bytes.fromhex(SPAN_ID), timestamp_ms=1_790_000_000_123)

    assert (found.version, found.variant) == (7, "specified in RFC 4122")
    assert found.int >> 80 == 1_790_000_000_123
    assert str(found)[13:] == str(opik_id(bytes.fromhex(SPAN_ID), timestamp_ms=0))[13:]


async def test_opik_has_a_turn_on_its_span_and_a_conversation_on_its_thread_or_trace(tmp_path: Path):
    async with OpikStandIn() as opik:
        await export("opik", opik, tmp_path, REFUND_FAILED, ON_CONVERSATION)
        opik.threads.add("conv-1")
        await export("opik", opik, tmp_path, REVISED)

    [trace_id] = opik.traces
    begin = int(trace_id.replace("-", ""), 16) >> 80
    span_id = opik_id(bytes.fromhex(SPAN_ID), timestamp_ms=begin)
    assert set(opik.stored) == {
        f"span/{span_id}/task_adherence",
        f"trace/{trace_id}/task_adherence",
        "thread/conv-1/task_adherence",
    }
    found = opik.stored[f"span/{span_id}/task_adherence"]
    assert (found["value"], found["category_name"], found["source"]) == (0.25, "fail", "online_scoring")


async def test_mlflow_marks_what_a_revision_overrides(tmp_path: Path):
    async with MlflowStandIn() as mlflow:
        await export("mlflow", mlflow, tmp_path, ON_CONVERSATION)
        await export("mlflow", mlflow, tmp_path, REVISED)

    first, second = mlflow.stored.values()
    assert (first["valid"], second["valid"], second["overrides"]) == (False, True, first["assessment_id"])
    assert second["metadata"]["mlflow.trace.session"] == "conv-1"
    assert second["metadata"]["mlflow.assessment.judgeInputTokens"] == "1200"
    assert "span_id" not in second
    assert second["create_time"] == AT


async def test_an_mlflow_that_gives_its_own_ids_is_not_written_to_twice(tmp_path: Path):
    async with MlflowStandIn() as mlflow:
        await export("mlflow", mlflow, tmp_path, REFUND_FAILED)
        [(_, stored)] = mlflow.stored.items()
        mlflow.stored = {"a-own": {**stored, "assessment_id": "a-own"}}
        await export("mlflow", mlflow, tmp_path, dataclasses.replace(REFUND_FAILED, reason="Sent again."))

    [found] = mlflow.stored.values()
    assert (found["assessment_id"], found["rationale"]) == ("a-own", "Sent again.")


async def test_datadog_gets_decimal_ids_and_labels_in_its_letters(tmp_path: Path):
    async with DatadogStandIn() as datadog:
        await export("datadog", datadog, tmp_path, REFUND_FAILED, ON_CONVERSATION)

    first, second = datadog.calls[0].json()["data"]["attributes"]["metrics"]
    assert first["join_on"]["span"] == {"span_id": str(int(SPAN_ID, 16)), "trace_id": str(int(TRACE_ID, 16))}
    assert first["timestamp_ms"] == 1_790_000_000_123
    assert (first["ml_app"], first["assessment"], first["score_value"]) == ("shop", "fail", 0.25)
    assert first["tags"] == ["source:otel", "ml_app:shop", "env:test"]
    assert (first["eval_scope"], second["eval_scope"]) == ("span", "trace")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("task_adherence", "task_adherence"),
        ("tone: polite?", "tone_polite_"),
        ("9lives", "adhere_9lives"),
        ("ünï", "adhere__n_"),
        ("a" * 300, "a" * 200),
    ],
)
def test_datadog_labels(name: str, expected: str):
    assert label(name) == expected


async def test_braintrust_has_the_score_on_the_row_of_the_span(tmp_path: Path):
    async with BraintrustStandIn() as braintrust:
        await export("braintrust", braintrust, tmp_path, REFUND_FAILED)

    [row] = braintrust.rows.values()
    [feedback] = braintrust.calls[-1].json()["feedback"]
    assert row["scores"] == {"task_adherence": 0.25}
    assert feedback["comment"] == f"task_adherence: {REFUND_FAILED.reason}"


async def test_weave_has_every_outcome_and_ratings_for_scores_only(tmp_path: Path):
    failed = verdict("v1", outcome=Outcome.ERROR, score=None, label=None, error_type="judge_timeout")
    async with WeaveStandIn() as weave:
        await export("weave", weave, tmp_path, REFUND_FAILED, failed)

    scored, error = weave.stored.values()
    assert scored["scorer_ratings"] == {"task_adherence": 0.25}
    assert scored["weave_ref"] == f"weave:///team/shop/call/{SPAN_ID}"
    assert scored["feedback_type"] == "adhere.task_adherence"
    assert "scorer_ratings" not in error
    assert (error["payload"]["outcome"], error["payload"]["error_type"]) == ("error", "judge_timeout")


async def test_azure_has_events_correlated_with_the_span(tmp_path: Path):
    async with AzureStandIn() as azure:
        await export("azure", azure, tmp_path, REFUND_FAILED)

    [found] = azure.stored.values()
    base = found["data"]["baseData"]
    assert found["tags"]["ai.operation.id"] == TRACE_ID
    assert found["tags"]["ai.operation.parentId"] == SPAN_ID
    assert found["tags"]["ai.cloud.role"] == "shop"
    assert base["name"] == "gen_ai.evaluation.result"
    assert base["properties"]["gen_ai.evaluation.score.label"] == "fail"
    assert base["properties"]["adhere.internal"] == "true"
    assert base["measurements"] == {"gen_ai.evaluation.score.value": 0.25}


async def test_azure_says_which_events_it_refused_and_whether_for_good(tmp_path: Path):
    items = [verdict(f"v{number}") for number in range(4)]
    async with AzureStandIn() as azure:
        azure.refuse = {1: 429, 2: 400}

        with pytest.raises(PartialExportError) as caught:
            await export("azure", azure, tmp_path, *items)

    kinds = {key: type(err) for key, err in caught.value.failures.items()}
    assert kinds == {"v1": RetryableError, "v2": PermanentError}
    assert len(azure.stored) == 2


@pytest.mark.parametrize("status", [402, 439])
async def test_a_quota_of_azure_is_an_outage(tmp_path: Path, status: int):
    async with AzureStandIn() as azure:
        azure.script.append(Scripted(status))

        with pytest.raises(RetryableError, match="quota"):
            await export("azure", azure, tmp_path, REFUND_FAILED)


async def test_grafana_has_the_generation_of_the_response(tmp_path: Path):
    builtin = dataclasses.replace(REFUND_FAILED, id="v2", judge=JudgeInfo(name="builtin"))
    async with GrafanaStandIn() as grafana:
        await export("grafana", grafana, tmp_path, REFUND_FAILED, builtin)

    first, second = grafana.stored.values()
    assert (first["score_id"], first["generation_id"]) == (REFUND_FAILED.id, "chatcmpl-7")
    assert (first["value"], first["passed"]) == ({"number": 0.25}, False)
    kinds = [item["metadata"]["gen_ai.evaluation.evaluator.type"] for item in (first, second)]
    assert kinds == ["llm_judge", "deterministic"]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("langfuse", {"public_key": "pk"}, "secret_key"),
        ("langfuse", {"public_key": "pk", "secret_key": "sk", "environment": "langfuse-x"}, "environment"),
        ("langsmith", {"api_key": "k", "project_id": "not-a-uuid"}, "project_id"),
        ("braintrust", {"api_key": "k", "project_id": "x') | limit: 1"}, "project_id"),
        ("weave", {"api_key": "k", "entity": "a/b", "project": "p"}, "entity"),
        ("azure", {"connection_string": "IngestionEndpoint=https://a"}, "InstrumentationKey"),
        ("webhook", {"url": "https://a/b", "secret": "short"}, "secret"),
        ("webhook", {"url": "nowhere"}, "address"),
        ("mlflow", {"username": "u"}, "together"),
        ("grafana", {}, "endpoint"),
        ("datadog", {"api_key": "k", "site": "evil.com/x"}, "site"),
        ("phoenix", {"endpont": "x"}, "endpont"),
        ("phoenix", {"headers": {"a\nb": "c"}}, "header name"),
    ],
)
async def test_options_that_cannot_work_are_named(tmp_path: Path, kind: str, options: dict[str, Any], message: str):
    with pytest.raises(ExporterConfigError, match=message):
        build_exporters(kind, options, context=exporter_context(tmp_path))
