"""kill -9 of the running sidecar under load, at seeded instants; nothing acknowledged may be lost (R1, R6, R7, R8).

`CHAOS_SEED` and `CHAOS_KILLS` in the environment replay a failure or make a longer run.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.telemetry.records import Signal
from tests.chaos.kills import Kill, plan_kills
from tests.chaos.scored_spans import check_scored_spans, has_all
from tests.support.adhere_process import AdhereProcess, is_alive
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.otlp_sink import OtlpSink
from tests.support.running_adhere import write_config
from tests.support.traffic import Oracle, Producer, Transport
from tests.support.until import until
from tests.support.verdict_lines import verdict_lines

SEED = int(os.environ.get("CHAOS_SEED", "20261130"))
KILLS = int(os.environ.get("CHAOS_KILLS", "20"))
EVALUATORS = ("rules", "task_adherence")
IN_FLIGHT = 4
PRODUCERS: tuple[tuple[str, Transport], ...] = (("h1", "http"), ("h2", "http"), ("g1", "grpc"))
LONG_S = 120.0
"""Bound of a wait for something that takes a second or two on a quiet machine."""


@pytest.mark.timeout(900)
async def test_kills_lose_nothing_and_change_nothing(tmp_path: Path) -> None:
    print(f"CHAOS_SEED={SEED} CHAOS_KILLS={KILLS}")  # noqa: T201 - what a failure is replayed with
    oracle = Oracle()
    with JudgeServer(honest) as judge:
        async with OtlpSink() as backend, OtlpSink() as scores, OtlpSink() as scored, LangfuseStandIn() as langfuse:
            config = write_config(
                tmp_path,
                relay=[
                    {"name": "backend", "endpoint": backend.http_url},
                    {"name": "scored", "endpoint": scored.http_url, "enrich": True, "enrich_deadline_s": 600},
                ],
                judge={"base_url": judge.base_url, "model": "scripted-judge", "max_concurrency": IN_FLIGHT},
                evaluators=["rules", {"task_adherence": {"on": "turn"}}],
                exporters=[
                    "jsonl",
                    {"otlp": {"endpoint": scores.grpc_url, "protocol": "grpc"}},
                    {"langfuse": {"host": langfuse.url, **langfuse.options}},
                ],
                shutdown_s=5,
            )
            verdicts = tmp_path / "data" / "verdicts.jsonl"
            async with AsyncExitStack() as stack:
                adhere = await stack.enter_async_context(AdhereProcess(config))
                locate = adhere.data.read_addresses
                producers = [
                    await stack.enter_async_context(
                        Producer(name, transport=transport, oracle=oracle, locate=locate, seed=SEED)
                    )
                    for name, transport in PRODUCERS
                ]
                stop = asyncio.Event()
                async with asyncio.TaskGroup() as load:
                    for producer in producers:
                        load.create_task(producer.run(stop))
                    async with asyncio.TaskGroup() as lanes:
                        for lane in plan_kills(seed=SEED, kills=KILLS).values():
                            lanes.create_task(carry_out(lane, adhere, oracle=oracle, verdicts=verdicts))
                    stop.set()

                fresh = await producers[0].send_one(with_conversation=True)
                wanted = {(conversation, name) for conversation in oracle.conversations for name in EVALUATORS}
                await until(lambda: judged(verdicts).keys() >= wanted, timeout_s=LONG_S, every_s=0.2)
                await scores.wait_for(lambda s: len(event_ids(s)) >= len(wanted), timeout_s=LONG_S)
                await backend.wait_for(lambda s: set(s.bodies(Signal.TRACES)) >= set(oracle.acked), timeout_s=LONG_S)
                await scored.wait_for(lambda s: has_all(s, oracle), timeout_s=LONG_S)
                await until(lambda: len(langfuse.stored) >= len(wanted), timeout_s=LONG_S, every_s=0.2)
                assert await adhere.terminate() == 0

            found = judged(verdicts)
            arrived = backend.bodies(Signal.TRACES)
            assert (fresh, "rules") in found, "liveness"
            assert set(arrived) == oracle.attempted == set(oracle.acked), "conservation, and nothing unknown"
            assert found.keys() == wanted
            assert {len(lines) for lines in found.values()} == {1}, "one verdict each, whatever was replayed"
            ids = {verdict_id for lines in found.values() for verdict_id in lines}
            assert event_ids(scores) == ids
            assert {outcome for lines in found.values() for outcome in lines.values()} == {"pass"}
            assert sorted(score["id"] for score in langfuse.stored.values()) == sorted(ids), "once, under the stable id"
            evaluator_kills = sum(
                len(lane) for target, lane in plan_kills(seed=SEED, kills=KILLS).items() if target != "collector"
            )
            paid = sum(name == "task_adherence" for _, name in found)
            assert paid <= len(judge.calls) <= paid + IN_FLIGHT * evaluator_kills, "nothing finished is asked again"
            print(  # noqa: T201 - the figures of the run
                f"{len(oracle.acked)} requests, {span_count(oracle)} spans, {oracle.tries} tries,"
                f" {len(oracle.conversations)} conversations, {len(arrived)} relayed, {len(judge.calls)} judge calls"
            )
            print(check_scored_spans(scored, oracle, kills=evaluator_kills, evaluators=EVALUATORS))  # noqa: T201 - same
            assert span_count(oracle) >= 100 * KILLS, "enough traffic to mean something"
            assert len(oracle.conversations) >= KILLS
            assert KILLS < 10 or oracle.tries > len(oracle.acked), "the kills were felt"


async def carry_out(lane: Sequence[Kill], adhere: AdhereProcess, *, oracle: Oracle, verdicts: Path) -> None:
    for kill in lane:
        if kill.moment == "at_work":
            done = work_of(kill, oracle=oracle, verdicts=verdicts)
            goal = done() + kill.work
            await until(lambda: done() >= goal, timeout_s=LONG_S, every_s=0.05)  # noqa: B023 - awaited in this round
        if kill.target == "supervisor":
            await kill_supervisor(adhere)
        else:
            await kill_child(kill, adhere)


def work_of(kill: Kill, *, oracle: Oracle, verdicts: Path) -> Callable[[], int]:
    if kill.target != "evaluator":
        return lambda: len(oracle.acked)
    return lambda: verdicts.read_bytes().count(b"\n") if verdicts.exists() else 0


async def kill_child(kill: Kill, adhere: AdhereProcess) -> None:
    """The one that is there after the delay; in between it may have fallen with its supervisor."""
    pid = None
    while pid is None:
        await until(lambda: kill.target in adhere.children(), timeout_s=LONG_S, every_s=0.02)
        await asyncio.sleep(kill.delay_s)
        pid = adhere.children().get(kill.target)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not is_alive(pid), timeout_s=LONG_S)


async def kill_supervisor(adhere: AdhereProcess) -> None:
    """Its children end by themselves; then everything is started anew, as an init system would."""
    children = adhere.children().values()
    adhere.signal(signal.SIGKILL)
    assert await adhere.wait() == -signal.SIGKILL
    await until(lambda: not any(map(is_alive, children)), timeout_s=LONG_S)
    await adhere.start()


def judged(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """By conversation and evaluator: the ids of the verdicts, with the outcome of each."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for line in verdict_lines(path):
        found[line["conversation_id"], line["evaluator"]][line["id"]] = line["outcome"]
    return found


def event_ids(sink: OtlpSink) -> set[str]:
    return {
        pair.value.string_value
        for record in sink.log_records
        for pair in record.attributes
        if pair.key == "adhere.verdict.id"
    }


def span_count(oracle: Oracle) -> int:
    return sum(
        len(scope.spans)
        for body in oracle.acked
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
    )
