"""A real Prometheus scrapes a real `/metrics`: the dashboards' queries give data, and an alert fires."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from adhere.run.data_dir import Addresses
from tests.deploy.documents import PROMETHEUS as DEPLOYED
from tests.deploy.documents import dashboards, queries
from tests.integration.real_server import RunningServer, running_beside
from tests.integration.servers import PROMETHEUS
from tests.support.agent_run import run_app
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.otlp_sink import OtlpSink
from tests.support.ports import free_port
from tests.support.running_adhere import running_adhere

pytestmark = pytest.mark.timeout(1800)

RULES = {"rules": {"rules": [{"name": "member first", "before": "renew_loan", "require": "check_member"}]}}
NEEDS_A_DAY = {"adhere-adherence: Against the day before A"}
NEEDS_LABELS = {"adhere-judge: Against people's labels A"}
NEEDS_LOSSES = {
    "adhere-judge: Put off A",
    "adhere-pipeline: Relays: retries and losses B",
    "adhere-pipeline: Exports: retries and losses B",
}
"""Queries about what did not happen in so short and so good a time."""


def write_configuration(folder: Path, telemetry: str) -> None:
    """That of deploy/, with another address and quicker."""
    config = yaml.safe_load((DEPLOYED / "prometheus.yaml").read_text())
    config["global"] = {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"}
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [telemetry]
    del config["alerting"]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    (folder / "rules").mkdir()
    for path in DEPLOYED.glob("*.rules.yaml"):
        (folder / "rules" / path.name).write_text(path.read_text().replace("interval: 1m", "interval: 500ms"))


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[tuple[Addresses, RunningServer]]:
    """Adhere with all it can be connected to, two of them away, and a Prometheus that scrapes it."""
    (folder / "prometheus").mkdir()
    away = f"http://127.0.0.1:{free_port()}"
    with JudgeServer(honest) as judge:
        async with (
            OtlpSink() as sink,
            running_adhere(
                folder,
                relay=[
                    {"name": "backend", "endpoint": sink.http_url, "enrich": True},
                    {"name": "away", "endpoint": away},
                ],
                judge={
                    "base_url": judge.base_url,
                    "model": "scripted-judge",
                    "api_key": "test",
                    "budget": {"usd_per_day": 100},
                    "prices": {"scripted-judge": {"input": 1.0, "output": 2.0}},
                },
                evaluators=[RULES, {"task_adherence": {"on": "turn"}}, {"role_adherence": {"on": "turn"}}],
                exporters=["prometheus", "jsonl", {"phoenix": {"endpoint": away}}],
            ) as (_, addresses),
        ):
            write_configuration(folder / "prometheus", str(addresses.telemetry))
            async with running_beside(PROMETHEUS, folder / "prometheus") as prometheus:
                yield addresses, prometheus


async def ask(client: httpx2.AsyncClient, path: str, **params: str) -> Any:
    answer = await client.get(f"/api/v1/{path}", params=params)
    body = answer.json()
    assert body["status"] == "success", body
    return body["data"]


def filled(expr: str) -> str:
    """As Grafana asks it with everything chosen."""
    windows = expr.replace("$__rate_interval", "1m").replace("$__range", "5m")
    return re.sub(r"\$\w+", ".*", windows)


async def without_data(client: httpx2.AsyncClient, asked: Mapping[str, str]) -> dict[str, str]:
    found = [await ask(client, "query", query=filled(expr)) for expr in asked.values()]
    return {title: expr for (title, expr), data in zip(asked.items(), found, strict=True) if not data["result"]}


async def work(addresses: Addresses, conversation_id: str) -> list[dict[str, str]]:
    """Two turns of an agent, and a request that is refused."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {"content-type": "application/x-protobuf"}
        refused = await client.post(f"http://{addresses.http}/v1/traces", content=b"no OTLP", headers=headers)
    assert refused.status_code == 400
    return await run_app(f"http://{addresses.http}", protocol="http", conversation_id=conversation_id)


async def test_the_queries_of_the_dashboards_give_data_and_a_broken_rule_raises_its_alert(tmp_path: Path) -> None:
    empty = {f"{one['uid']}: {title}": expr for one in dashboards().values() for title, expr in queries(one).items()}
    turns = []
    async with (
        watched(tmp_path) as (addresses, prometheus),
        httpx2.AsyncClient(base_url=prometheus.url, trust_env=False) as client,
    ):
        for number in range(60):
            # Work goes on, since a rate needs a change between two scrapes.
            if number % 10 == 0:
                turns += await work(addresses, f"visit-{number}")
            empty = await without_data(client, empty)
            if set(empty) == NEEDS_A_DAY | NEEDS_LABELS | NEEDS_LOSSES:
                break
            await asyncio.sleep(1)
        alerts = (await ask(client, "alerts"))["alerts"]
        rules = await ask(client, "rules")
        exemplars = await ask(client, "query_exemplars", query="adhere_score_bucket", start="0", end="4102444800")

    assert set(empty) == NEEDS_A_DAY | NEEDS_LABELS | NEEDS_LOSSES
    assert {"AdhereHardRuleBroken"} <= {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}
    assert [rule for group in rules["groups"] for rule in group["rules"] if rule["health"] == "err"] == []
    traces = {one["labels"]["trace_id"] for series in exemplars for one in series["exemplars"]}
    assert traces
    assert traces <= {turn["trace_id"] for turn in turns}
