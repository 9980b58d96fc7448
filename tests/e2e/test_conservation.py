"""Every accepted request, unit and verdict ends in exactly one counter, however often it is sent (R7, R14)."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from collector.clock import SystemClock
from collector.relay.destination import Destination
from collector.relay.replay import replay
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from evaluators.store.explain import open_archive
from evaluators.verdict import DecisionKind
from tests.support.adhere_process import AdhereProcess
from tests.support.agent_telemetry import AgentTelemetry, trace_body, unrelated_span
from tests.support.metrics_page import samples, total
from tests.support.otlp_requests import log_request, metric_request
from tests.support.otlp_sink import OtlpSink
from tests.support.running_adhere import write_config
from tests.support.until import until
from tests.support.verdict_lines import verdict_lines

pytestmark = pytest.mark.timeout(600)

CONVERSATIONS = [f"c-{number}" for number in range(20)]
EVALUATORS = ("rules", "task_adherence")
SPANS = len(CONVERSATIONS) * len(AgentTelemetry().turn("order"))
LONG_S = 150.0
Request = tuple[Signal, bytes]


def requests() -> list[Request]:
    """Each conversation's turn in two halves, and what has nothing to do with agents."""
    found: list[Request] = [(Signal.LOGS, log_request()), (Signal.METRICS, metric_request())]
    for name in CONVERSATIONS:
        spans = AgentTelemetry(conversation_id=name, name=name).turn(f"order {name}")
        found += [(Signal.TRACES, trace_body(spans[:2])), (Signal.TRACES, trace_body(spans[2:]))]
        found.append((Signal.TRACES, trace_body([unrelated_span(name.encode().ljust(16), name)])))
    return found


async def send(endpoint: str, every: Sequence[Request], *, protocol: str) -> None:
    sender = open_sender(Destination(endpoint=endpoint, protocol=protocol))  # type: ignore[arg-type]  # one of the two
    try:
        result = await replay(every, sender, clock=SystemClock(), rng=random.Random(1))
    finally:
        await sender.close()
    assert (result.sent, result.refused, result.stopped_by) == (len(every), 0, None)


async def test_every_item_has_one_outcome_however_often_it_is_sent(tmp_path: Path) -> None:
    rng = random.Random(3)
    once = requests()
    http = [request for request in once for _ in range(rng.randint(1, 3))]
    rpc = [request for request in once for _ in range(rng.randint(0, 2))]
    rng.shuffle(http)
    rng.shuffle(rpc)
    async with OtlpSink() as backend:
        config = write_config(
            tmp_path,
            relay=[
                {"name": "all", "endpoint": backend.http_url},
                {"name": "logs", "endpoint": backend.grpc_url, "protocol": "grpc", "signals": ["logs"]},
            ],
            evaluators=["rules", {"task_adherence": {"on": "turn"}}],
        )
        async with AdhereProcess(config) as adhere:
            addresses = await adhere.ready()
            await send(f"http://{addresses.http}", http, protocol="http/protobuf")
            await send(f"http://{addresses.grpc}", rpc, protocol="grpc")
            async with httpx2.AsyncClient(trust_env=False) as client:
                broken = await client.post(f"http://{addresses.http}/v1/traces", content=b"\xff")
                assert broken.status_code in {400, 415}
            path = tmp_path / "data" / "verdicts.jsonl"
            wanted = {(name, evaluator) for name in CONVERSATIONS for evaluator in EVALUATORS}
            await until(
                lambda: {(line["conversation_id"], line["evaluator"]) for line in verdict_lines(path)} >= wanted,
                timeout_s=LONG_S,
                every_s=0.2,
            )
            sent = len(http) + len(rpc)
            await until(lambda: nothing_is_due(tmp_path / "data" / "conversations.db"), timeout_s=LONG_S, every_s=0.2)
            await until(
                lambda: standing(tmp_path / "data" / "verdicts.db") == last_of(verdict_lines(path)),
                timeout_s=LONG_S,
                every_s=0.2,
            )
            logs = sum(signal is Signal.LOGS for signal, _ in [*http, *rpc])
            await backend.wait_for(lambda s: len(s.requests) >= sent + logs, timeout_s=LONG_S)
            telemetry = str(addresses.telemetry)
            shown = await samples(telemetry)
            assert await adhere.terminate() == 0

    assert total(shown, "adhere_receiver_accepted_requests_total", transport="http") == len(http)
    assert total(shown, "adhere_receiver_accepted_requests_total", transport="grpc") == len(rpc)
    assert total(shown, "adhere_receiver_refused_requests_total") == 1
    assert total(shown, "adhere_journal_appended_total") == sent
    assert total(shown, "adhere_journal_read_total", cursor="evaluator") == sent
    assert total(shown, "adhere_relay_relayed_requests_total", destination="all") == sent
    assert total(shown, "adhere_relay_relayed_requests_total", destination="logs") == logs
    assert total(shown, "adhere_relay_not_selected_requests_total", destination="logs") == sent - logs
    assert total(shown, "adhere_relay_dropped_requests_total") == 0
    decided = total(shown, "adhere_judging_decisions_total") + total(shown, "adhere_judging_unchanged_total")
    assert total(shown, "adhere_judging_submitted_total") == decided
    verdicts = verdict_lines(path)
    assert {(line["conversation_id"], line["evaluator"]) for line in verdicts} == wanted
    assert total(shown, "adhere_judging_verdicts_total") == len(verdicts)
    assert total(shown, "adhere_outbox_accepted_total") == len(verdicts)
    assert total(shown, "adhere_export_delivered_total", exporter="jsonl") == len(verdicts)
    assert standing(tmp_path / "data" / "verdicts.db") == last_of(verdicts)


def nothing_is_due(path: Path) -> bool:
    """All was read and handed over as it is in the end: a busy machine may hand over halves of turns before."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        (spans,) = database.execute("SELECT count(*) FROM fragment").fetchone()
        (due,) = database.execute("SELECT count(*) FROM component WHERE due IS NOT NULL").fetchone()
    return bool(due == 0 and spans == SPANS)


def last_of(lines: Sequence[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
    return {(line["conversation_id"], line["evaluator"]): [line["id"]] for line in lines}


def standing(path: Path) -> dict[tuple[str, str], list[str | None]]:
    """The verdicts that count, by conversation and evaluator: those of a turn that was seen too early do not."""
    found: dict[tuple[str, str], list[str | None]] = defaultdict(list)
    with open_archive(path) as archive:
        for name in CONVERSATIONS:
            for record in archive.explain(name).decisions:
                if record.current and record.decision.kind is not DecisionKind.SUPERSEDED:
                    found[name, record.decision.evaluator].append(record.decision.verdict_id)
    return dict(found)
