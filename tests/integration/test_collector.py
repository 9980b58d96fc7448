"""SDK -> Collector -> Adhere -> Collector -> backend, with the Collector's configurations of deploy/."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.integration.real_server import running_beside
from tests.integration.servers import otel_collector
from tests.support.agent_run import run_app
from tests.support.attributes import plain
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.otlp_sink import OtlpSink
from tests.support.ports import free_port
from tests.support.running_adhere import running_adhere

pytestmark = pytest.mark.timeout(1800)

TOKEN = "a-token-of-this-test"
RULES = {"rules": {"rules": [{"name": "member first", "before": "renew_loan", "require": "check_member"}]}}


@asynccontextmanager
async def adhere_behind(front_port: int, backend: str, folder: Path) -> AsyncIterator[None]:
    """Adhere where the Collector in front looks for it, and a Collector behind it."""
    (folder / "behind").mkdir(parents=True)
    with JudgeServer(honest) as judge:
        async with (
            running_beside(otel_collector("behind.yaml", BACKEND_ENDPOINT=backend), folder / "behind") as behind,
            running_adhere(
                folder,
                receivers={
                    "grpc": {"endpoint": f"127.0.0.1:{front_port}", "bearer_token": TOKEN},
                    "http": {"enabled": False},
                },
                relay=[{"name": "behind", "endpoint": behind.second_url, "protocol": "grpc"}],
                judge={"base_url": judge.base_url, "model": "scripted-judge", "api_key": "test"},
                evaluators=[RULES, {"task_adherence": {"on": "conversation"}}],
                exporters=[{"otlp": {"endpoint": behind.url, "metrics_interval_s": 0.5}}],
            ),
        ):
            yield


def is_evaluation(span: Span) -> bool:
    return plain(span.attributes).get("gen_ai.operation.name") == "evaluation"


async def test_spans_pass_scores_come_and_nothing_is_lost_while_adhere_is_away(tmp_path: Path) -> None:
    port = free_port()
    front = otel_collector(
        "in-front.yaml",
        ADHERE_ENDPOINT=f"127.0.0.1:{port}",
        ADHERE_INSECURE="true",
        ADHERE_TOKEN=TOKEN,
        QUEUE_DIRECTORY=str(tmp_path / "queue"),
    )
    for name in ("first", "second", "adhere"):
        (tmp_path / name).mkdir()

    async with OtlpSink() as sink:
        # Adhere is away, and the Collector in front of it is restarted: what it took waits on disk.
        async with running_beside(front, tmp_path / "first") as collector:
            turns = await run_app(collector.url, protocol="http", conversation_id="visit-1")
        arrived_early = len(sink.spans)
        async with (
            running_beside(front, tmp_path / "second") as collector,
            adhere_behind(port, sink.http_url, tmp_path / "adhere"),
        ):
            turns += await run_app(collector.second_url, protocol="grpc", conversation_id="visit-2")
            wanted = {(turn["span_id"], "rules") for turn in turns}
            wanted |= {(turns[index]["span_id"], "task_adherence") for index in (1, 3)}
            await sink.wait_for(
                lambda one: wanted <= judged(one) and wanted <= told(one) and bool(one.metric_points), timeout_s=120
            )

    own = [span for span in sink.spans if not is_evaluation(span)]
    assert arrived_early == 0
    assert {turn["span_id"] for turn in turns} <= {span.span_id.hex() for span in own}
    assert set(Counter(span.span_id for span in own).values()) == {1}
    for span in filter(is_evaluation, sink.spans):
        assert span.parent_span_id == span.links[0].span_id
        assert span.trace_id.hex() in {turn["trace_id"] for turn in turns}
    assert told(sink) == wanted
    assert "adhere.verdicts" in {metric.name for metric in sink.metric_points}


def judged(sink: OtlpSink) -> set[tuple[str, object]]:
    found = [span for span in sink.spans if is_evaluation(span)]
    return {(span.parent_span_id.hex(), plain(span.attributes)["gen_ai.evaluation.name"]) for span in found}


def told(sink: OtlpSink) -> set[tuple[str, object]]:
    found = [record for record in sink.log_records if record.event_name == "gen_ai.evaluation.result"]
    return {(record.span_id.hex(), plain(record.attributes)["gen_ai.evaluation.name"]) for record in found}
