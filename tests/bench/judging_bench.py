"""What a verdict costs Adhere itself: CPU of a judged turn, and the time of a hundred conversations with a slow judge.

    python -m tests.bench.judging_bench [--verdicts 400]

The judge is a scripted server in a process of its own. The same requests are also sent by a bare pooled client in the
same run, since the figures of a busy machine only mean something beside that. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import httpx2
import orjson
import uvloop
from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.table import Table

from collector.clock import SystemClock
from collector.model import Conversation
from evaluators.asking import question_of
from evaluators.budget import BudgetConfig
from evaluators.judge.config import JudgeConfig
from evaluators.judge.connect import connect
from evaluators.judge.form import body_of, first_form
from evaluators.judge.metrics import JudgeMetrics
from evaluators.pipeline.limits import PipelineLimits
from evaluators.pipeline.pipeline import JudgingPipeline
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.store.ledger import StoredLedger
from evaluators.store.thread import StoreThread
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.transcript.fence import Fence
from evaluators.transcript.record import record_of
from evaluators.verdict import Unit
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.judge_reply import always, answer
from tests.support.judge_server import JudgeServer
from tests.support.verdict_sink import KeepingSink

CONCURRENCY = 32
CONVERSATIONS = 100
LATENCY_S = 0.2
_ROUNDS = 5
_WORDS = (
    "In every turn the order was looked up before anything was said about it, and what the agent then told the user "
    "is what the result of the call holds, so that nothing was claimed or promised beyond it."
)
_FINE = {"reasoning": _WORDS, "evidence": [], "verdict": "pass"}
_ANSWER = {"injection_suspected": False, "goal": _FINE, "rule": _FINE, "procedure": _FINE, "summary": _WORDS}


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_ms: float
    """A verdict; the least of some rounds."""
    wall_ms: float


def conversation(name: str) -> Conversation:
    """Five turns of about 1,250 tokens, with calls and results."""
    builder = ConversationBuilder(name, system="You are the desk of a shop. " * 12, tools=["find_order", "refund"])
    for n in range(5):
        builder.turn(f"Where is my order {n}? " * 4)
        builder.call("find_order", {"order": f"{name}-{n}"}, result={"status": "sent", "note": "on its way " * 20})
        builder.answer(f"Order {n} is on its way and comes on Friday. " * 5)
    return builder.build()


def units(count: int, *, prefix: str) -> list[Unit]:
    return [turn_unit(conversation(f"{prefix}-{n}")) for n in range(count)]


@contextlib.contextmanager
def server_process(latency_s: float) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.judging_bench", "--serve", str(latency_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def serve(latency_s: float) -> None:
    """Until the caller closes our input."""
    with JudgeServer(always(answer(_ANSWER, latency_s=latency_s))) as server:
        print(server.base_url, flush=True)  # noqa: T201 - tells the caller where it listens.
        sys.stdin.read()


def settings(base_url: str) -> JudgeConfig:
    return JudgeConfig(model="scripted-judge", base_url=base_url, max_concurrency=CONCURRENCY, trust_env=False)


async def at_once(count: int, work: Callable[[int], Awaitable[object]]) -> None:
    """`CONCURRENCY` of them at a time."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))


async def measure(count: int, round_: Callable[[int], Awaitable[object]]) -> Cost:
    found: list[Cost] = []
    for number in range(_ROUNDS):
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        await round_(number)
        cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
        found.append(Cost(cpu_s / count * 1e3, wall_s / count * 1e3))
    return Cost(min(cost.cpu_ms for cost in found), min(cost.wall_ms for cost in found))


async def bare(base_url: str, body: bytes, count: int) -> Cost:
    limits = httpx2.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=30) as client:

        async def post(_: int) -> None:
            headers = {"content-type": "application/json"}
            (await client.post(f"{base_url}/chat/completions", content=body, headers=headers)).json()

        return await measure(count, lambda _: at_once(count, post))


async def evaluations(base_url: str, count: int) -> Cost:
    """An evaluator with its judge, without a store: as a library is used."""
    judge = connect(settings(base_url), metrics=JudgeMetrics(CollectorRegistry()))
    evaluator = TaskAdherence(judge=judge)
    rounds = [units(count, prefix=f"e{n}") for n in range(_ROUNDS)]
    try:
        return await measure(count, lambda n: at_once(count, lambda i: evaluator.evaluate(rounds[n][i])))
    finally:
        await judge.shutdown()


async def pipelines(base_url: str, count: int, folder: Path) -> Cost:
    """The whole way of a unit: decided on, waiting on disk, judged, stored, handed over."""
    clock = SystemClock()
    store = StoreThread(folder / "verdicts.db", clock=clock)
    metrics = JudgeMetrics(CollectorRegistry())
    budget = BudgetConfig(usd_per_day=1e6, tokens_per_month=1_000_000_000_000)
    ledger = StoredLedger(store, clock=clock, budget=budget, metrics=metrics)
    judge = connect(settings(base_url), metrics=metrics, ledger=ledger)
    pipeline = JudgingPipeline(
        [EvaluatorSetup(TaskAdherence(judge=judge))],
        store=store,
        sink=KeepingSink(),
        clock=clock,
        random=Random(1),
        registry=CollectorRegistry(),
        limits=replace(PipelineLimits(), max_concurrency=CONCURRENCY),
    )
    await pipeline.start()

    async def run(batch: list[Unit]) -> None:
        for unit in batch:
            await pipeline.submit(unit)
        await pipeline.drain()

    rounds = [units(count, prefix=f"p{n}") for n in range(_ROUNDS)]
    try:
        return await measure(count, lambda n: run(rounds[n]))
    finally:
        await pipeline.shutdown(5)
        await judge.shutdown()
        store.close()


def request_body() -> bytes:
    """A request as the judge sends it."""
    config = settings("http://127.0.0.1:1/v1")
    unit = units(1, prefix="bare")[0]
    asking = TaskAdherence(judge=None)._asking
    record = record_of(unit.conversation, fence=Fence(bytes(32)), max_tokens=config.max_record_tokens)
    question = question_of(asking, unit, record)
    return orjson.dumps(body_of(first_form(config), config, question, repair=None, max_tokens=config.answer_tokens))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--verdicts", type=int, default=400)
    parser.add_argument("--serve", type=float, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return
    count = options.verdicts
    with tempfile.TemporaryDirectory() as folder, server_process(0.0) as base_url:
        body = request_body()
        costs = {
            f"bare POST of {len(body) / 1000:.1f} kB": uvloop.run(bare(base_url, body, count)),
            "evaluator and judge": uvloop.run(evaluations(base_url, count)),
            "pipeline, store, cache, budget": uvloop.run(pipelines(base_url, count, Path(folder))),
        }
    floor = next(iter(costs.values())).cpu_ms
    table = Table(
        "what", "CPU ms a verdict", "over bare", "wall ms a verdict", title=f"{count} verdicts, {CONCURRENCY} at once"
    )
    for name, cost in costs.items():
        table.add_row(name, f"{cost.cpu_ms:.2f}", f"+{cost.cpu_ms - floor:.2f}", f"{cost.wall_ms:.2f}")
    with tempfile.TemporaryDirectory() as folder, server_process(LATENCY_S) as base_url:
        slow = {
            "bare POST": uvloop.run(bare(base_url, body, CONVERSATIONS)),
            "pipeline, store, cache, budget": uvloop.run(pipelines(base_url, CONVERSATIONS, Path(folder))),
        }
    console = Console()
    console.print(table)
    for name, cost in slow.items():
        took_s = cost.wall_ms * CONVERSATIONS / 1e3
        console.print(
            f"{CONVERSATIONS} conversations, judge {LATENCY_S:g} s, {CONCURRENCY} at once, {name}: {took_s:.2f} s"
        )


if __name__ == "__main__":
    main()
