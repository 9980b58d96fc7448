from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from prometheus_client import CollectorRegistry, Gauge

from collector.clock import SystemClock
from exporters.exposition import registry_source
from exporters.operations_app import operations_app

Ask = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
def ask() -> Ask:
    """One request to the application, without a socket."""
    registry = CollectorRegistry()
    Gauge("adhere_open", "Open.", registry=registry).set(5)

    async def asked(
        path: str, *, method: str = "GET", host: str = "localhost", authorization: str = "", **options: Any
    ) -> httpx2.Response:
        app = operations_app(
            sources={"collector": registry_source(registry)},
            alive=lambda: True,
            ready=lambda: True,
            clock=SystemClock(),
            **options,
        )
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), verify=False) as client:
            headers = {"host": host, "authorization": authorization}
            return await client.request(method, f"http://localhost{path}", headers=headers)

    return asked


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9464", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:9464", 200),
        ("10.1.2.3:9464", 200),
        ("adhere.monitoring.svc", 200),
        ("adhere.monitoring.svc:9464", 200),
        ("evil.example", 421),
        ("localhost.evil.example:9464", 421),
        ("127.0.0.1.evil.example", 421),
    ],
)
async def test_only_known_hosts_are_answered(ask: Ask, host: str, status: int):
    answer = await ask("/metrics", host=host, allowed_hosts=["Adhere.monitoring.svc"])

    assert answer.status_code == status
    assert ("adhere_open" in answer.text) == (status == 200)


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("Bearer s3cret", 200), ("bearer s3cret", 200), ("Bearer wrong", 401), ("Basic s3cret", 401), ("", 401)],
    ids=["right", "case", "wrong", "scheme", "none"],
)
async def test_a_token_guards_the_metrics_but_not_the_probes(ask: Ask, authorization: str, status: int):
    answer = await ask("/metrics", authorization=authorization, token="s3cret")
    probe = await ask("/readyz", token="s3cret")

    assert answer.status_code == status
    assert probe.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/metrics", 405), ("DELETE", "/healthz", 405), ("GET", "/", 404), ("HEAD", "/metrics", 200)],
)
async def test_nothing_but_reading_is_possible(ask: Ask, method: str, path: str, status: int):
    answer = await ask(path, method=method)

    assert answer.status_code == status
