"""Judges for tests: real ones, over real HTTP, pointed at a scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from collector.clock import Clock
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connect import connect
from evaluators.judge.credential import TokenSource
from evaluators.judge.judge import Judge
from evaluators.judge.ledger import CallLedger
from evaluators.judge.metrics import JudgeMetrics
from tests.support.judge_reply import Script
from tests.support.judge_server import JudgeServer

SECRET = b"a secret that is the same in each test"


@asynccontextmanager
async def judge_at(
    server: JudgeServer,
    *,
    clock: Clock | None = None,
    metrics: JudgeMetrics | None = None,
    tokens: TokenSource | None = None,
    ledger: CallLedger | None = None,
    **config: Any,
) -> AsyncIterator[Judge]:
    settings = {"model": "scripted-judge", "base_url": server.base_url, "deadline_s": 20.0, "trust_env": False}
    judge = connect(
        JudgeConfig(**(settings | config)),
        fence_secret=SECRET,
        clock=clock,
        random=Random(1),
        metrics=metrics,
        tokens=tokens,
        ledger=ledger,
    )
    try:
        yield judge
    finally:
        await judge.shutdown()


@asynccontextmanager
async def scripted_judge(script: Script, **changes: Any) -> AsyncIterator[tuple[Judge, JudgeServer]]:
    with JudgeServer(script) as server:
        async with judge_at(server, **changes) as judge:
            yield judge, server
