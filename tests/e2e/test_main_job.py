"""The main job on real processes and sockets: an unmodified app, Adhere, a scripted judge, an OTLP receiver behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.otlp_sink import OtlpSink
from tests.support.running_adhere import running_adhere

RULES = {"rules": {"rules": [{"name": "member first", "before": "renew_loan", "require": "check_member"}]}}


async def run_app(endpoint: str, *, protocol: str, conversation_id: str) -> list[dict[str, str]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.agent_app", protocol, conversation_id),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "OTEL_SERVICE_NAME": "library", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


def attributes(item) -> dict[str, object]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in item.attributes}


def is_evaluation(span: Span) -> bool:
    return attributes(span).get("gen_ai.operation.name") == "evaluation"


def own_spans(sink: OtlpSink) -> list[Span]:
    return [span for span in sink.spans if not is_evaluation(span)]


def score_names(span: Span) -> set[str]:
    return {key.split(".")[2] for key in attributes(span) if key.startswith("gen_ai.evaluation.")}


def without_scores(span: Span) -> bytes:
    kept = Span.FromString(span.SerializeToString())
    kept.ClearField("attributes")
    kept.attributes.extend(pair for pair in span.attributes if not pair.key.startswith("gen_ai.evaluation."))
    return kept.SerializeToString()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_an_unmodified_app_gets_its_spans_and_its_scores(tmp_path: Path, protocol: str) -> None:
    with JudgeServer(honest) as judge:
        async with OtlpSink() as sink, OtlpSink() as scored:
            relay = [{"name": "backend", "endpoint": sink.grpc_url if protocol == "grpc" else sink.http_url}]
            exporter = {"otlp": {"endpoint": sink.http_url, "metrics_interval_s": 0.5}}
            async with running_adhere(
                tmp_path,
                relay=[
                    {**relay[0], "protocol": "grpc" if protocol == "grpc" else "http/protobuf"},
                    {"name": "scored", "endpoint": scored.http_url, "enrich": True, "enrich_deadline_s": 120},
                ],
                judge={"base_url": judge.base_url, "model": "scripted-judge", "api_key": "test"},
                evaluators=[
                    RULES,
                    {"task_adherence": {"on": "conversation"}},
                    {"role_adherence": {"on": "turn"}},
                    "agent_rubric",
                ],
                exporters=[exporter, "jsonl"],
            ) as (_, addresses):
                endpoint = f"http://{addresses.grpc if protocol == 'grpc' else addresses.http}"

                turns = await run_app(endpoint, protocol=protocol, conversation_id="visit-7")

                wanted = {(turn["span_id"], "rules") for turn in turns} | {
                    (turn["span_id"], "role_adherence") for turn in turns
                }
                await sink.wait_for(
                    lambda s: (
                        wanted | {(turns[-1]["span_id"], kind) for kind in ("task_adherence", "agent_rubric")}
                        <= {
                            (record.span_id.hex(), str(attributes(record)["gen_ai.evaluation.name"]))
                            for record in s.log_records
                        }
                    ),
                    timeout_s=150,
                )
                await sink.wait_for(lambda s: sum(map(is_evaluation, s.spans)) >= len(wanted) + 2, timeout_s=150)
                await sink.wait_for(lambda s: bool(s.metrics), timeout_s=150)
                await scored.wait_for(lambda s: len(s.spans) >= len(own_spans(sink)), timeout_s=150)

            own = own_spans(sink)
            evaluations = [span for span in sink.spans if is_evaluation(span)]

            assert {span.span_id.hex() for span in own} >= {turn["span_id"] for turn in turns}
            assert len({span.span_id for span in own}) == len(own) == 6
            assert all("gen_ai.evaluation.name" not in attributes(span) for span in own)
            targets = {turn["span_id"] for turn in turns}
            assert sorted(map(without_scores, scored.spans)) == sorted(map(Span.SerializeToString, own))
            names = {span.span_id.hex(): score_names(span) for span in scored.spans if score_names(span)}
            assert names.keys() == targets
            names[turns[-1]["span_id"]] -= {"task_adherence", "agent_rubric"}  # There if made before the span went on.
            assert set(map(frozenset, names.values())) == {frozenset({"rules", "role_adherence"})}
            by_trace = {turn["trace_id"]: turn["span_id"] for turn in turns}
            for span in evaluations:
                assert span.parent_span_id.hex() == by_trace[span.trace_id.hex()]
                assert span.links[0].span_id.hex() == by_trace[span.trace_id.hex()]
            broken = [
                record
                for record in sink.log_records
                if attributes(record)["gen_ai.evaluation.name"] == "rules"
                and attributes(record)["gen_ai.evaluation.score.label"] == "fail"
            ]
            assert [record.span_id.hex() for record in broken] == [turns[0]["span_id"]]
            assert attributes(broken[0])["gen_ai.conversation.id"] == "visit-7"
            assert "renew_loan" in str(attributes(broken[0])["gen_ai.evaluation.explanation"])
            assert {call.path for call in judge.calls} == {"/v1/chat/completions"}
            assert sum("Question (rubric_compiler)" in call.text for call in judge.calls) == 1
            assert len(list((tmp_path / "data" / "rubrics" / "compiled").glob("*.yaml"))) == 1
            asked = [call.text for call in judge.calls if "Question (task_adherence)" in call.text]
            assert asked
            assert all("facts found by code" in text and "Rule member first" in text for text in asked)
