"""What is taken in, what is refused, and what is set aside; nothing that a record holds stops the stream."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collector.live.settings import LiveConfig
from collector.live.standard import StandardReconstruction
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Signal, Span
from evaluators.judge.frame import frame_text
from exporters.otlp.event import logs_request
from exporters.otlp.span import traces_request
from tests.support.agent_telemetry import AgentTelemetry, log_body, trace_body, unrelated_span
from tests.support.live_state import LiveHarness, keys_of
from tests.support.otlp_requests import metric_request
from tests.support.verdicts import REFUND_FAILED


class ChokingReconstruction(StandardReconstruction):
    """Fails on what is named `poison`, as a dialect with a bug would."""

    def read_span(self, span: Span) -> Operation | None:
        if span.name == "poison":
            raise ZeroDivisionError
        return super().read_span(span)

    def read_log(self, record: LogRecord) -> Operation | None:
        raise RecursionError


def outcomes(live: LiveHarness) -> dict[str, float]:
    found = {
        outcome: live.count("adhere_live_items_total", outcome=outcome)
        for outcome in ("stored", "duplicate", "unrelated", "loop", "unreadable", "too_large")
    }
    return {outcome: count for outcome, count in found.items() if count}


def poison(live: LiveHarness) -> list[tuple[str, int]]:
    with sqlite3.connect(live.path) as database:
        found = database.execute("SELECT reason, length(body) FROM poison ORDER BY id").fetchall()
    database.close()
    return found


@pytest.mark.parametrize("scope", ["adhere", "adhere.evaluators"])
async def test_our_own_telemetry_is_refused(live, scope):
    live.send(*AgentTelemetry().turn("judge this"), scope=scope)

    await live.advance(4000)

    assert outcomes(live) == {"loop": 4}
    assert live.due() == []


@pytest.mark.parametrize(
    "value", [AnyValue(bool_value=True), AnyValue(string_value="true")], ids=["as sent", "as text"]
)
async def test_telemetry_marked_internal_is_refused(live, value):
    spans = AgentTelemetry().turn("judge this")
    for span in spans:
        span.attributes.add(key="adhere.internal").value.CopyFrom(value)

    live.send(*spans)

    assert outcomes(live) == {"loop": 4}


async def test_what_another_adhere_exports_is_refused_also_where_scopes_were_lost(live):
    sent = traces_request([REFUND_FAILED], version="1")
    events = logs_request([REFUND_FAILED], version="1")
    sent.resource_spans[0].scope_spans[0].ClearField("scope")
    events.resource_logs[0].scope_logs[0].ClearField("scope")

    live.receive(sent.SerializeToString())
    live.receive(events.SerializeToString(), signal=Signal.LOGS)
    live.read()
    await live.advance(4000)

    assert outcomes(live) == {"loop": 2}
    assert live.due() == []


async def test_a_judges_call_that_a_gateway_traced_is_refused(live):
    asked = AgentTelemetry(system=frame_text("a1b2")).turn("the record", with_agent=False)

    live.send(*asked, scope="gateway")
    await live.advance(4000)

    assert outcomes(live)["loop"] == 2
    assert live.due() == []


async def test_a_user_who_writes_as_the_judge_is_asked_is_judged(live):
    live.send(*AgentTelemetry().turn(frame_text("a1b2")))

    assert outcomes(live) == {"stored": 4}


async def test_our_own_evaluation_events_are_refused(live):
    live.receive(
        log_body("gen_ai.evaluation.result", {"gen_ai.evaluation.name": "x"}, scope="adhere"), signal=Signal.LOGS
    )
    live.read()

    assert outcomes(live) == {"loop": 1}


async def test_names_that_only_begin_like_ours_are_somebody_else_s(live):
    live.send(*AgentTelemetry().turn("order 7"), scope="adherence-app")

    assert outcomes(live) == {"stored": 4}


async def test_a_record_that_cannot_be_read_is_set_aside_and_the_next_ones_flow(live):
    live.receive(b"\xff\xfe garbage")
    live.receive(trace_body(AgentTelemetry().turn("order 7")))
    live.read()
    await live.advance(7)

    assert keys_of(live.due()) == [("turn", 0)]
    assert live.count("adhere_live_records_total", outcome="malformed") == 1
    assert [size for _, size in poison(live)] == [10]


async def test_a_span_that_a_dialect_chokes_on_costs_that_span_only(tmp_path: Path):
    live = LiveHarness(tmp_path, reconstruction=ChokingReconstruction())
    spans = AgentTelemetry().turn("order 7")
    spans[0].name = "poison"

    live.send(*spans)
    live.receive(log_body("gen_ai.user.message", {"gen_ai.system": "x"}), signal=Signal.LOGS)
    live.read()

    assert outcomes(live) == {"stored": 3, "unreadable": 2}
    assert len(poison(live)) == 2
    live.close()


async def test_what_is_set_aside_is_bounded(tmp_path: Path):
    live = LiveHarness(tmp_path, config=replace(LiveConfig(), poison_items=5, poison_bytes=2000))

    for number in range(20):
        live.receive(b"\xff" * 400 + bytes([number]))
    live.receive(b"\xff" * 100_000)
    live.read()

    kept = poison(live)
    assert 1 <= len(kept) <= 5
    assert sum(size for _, size in kept) <= 2000
    live.close()


async def test_metrics_are_passed_over(live):
    live.receive(metric_request(), signal=Signal.METRICS)
    live.read()

    assert outcomes(live) == {}
    assert live.tracker.position == live.journal.records[-1].next_position


async def test_spans_of_no_agent_are_counted_and_forgotten(live):
    live.receive(log_body("http.request", {"url": "/"}), signal=Signal.LOGS)
    live.send(unrelated_span(b"0123456789abcdef", "one"))
    await live.advance(200)
    live.send(unrelated_span(b"fedcba9876543210", "two"))

    assert outcomes(live) == {"unrelated": 2}


@pytest.mark.parametrize("seed", range(3))
async def test_mutated_requests_never_stop_the_stream(live, seed):
    rng = random.Random(seed)
    body = trace_body(AgentTelemetry().turn("order 7"))
    for _ in range(150):
        mutated = bytearray(body)
        for _ in range(rng.randint(1, 20)):
            mutated[rng.randrange(len(mutated))] = rng.randrange(256)
        live.receive(bytes(mutated[: rng.randint(1, len(mutated))]))
    live.receive(trace_body(AgentTelemetry("whole", name="whole").turn("order 8")))

    live.read()
    await live.advance(4000)
    live.due()

    assert live.tracker.get("whole").turns[0].user_input == "order 8"
    assert live.count("adhere_live_failures_total", where="conversation") == 0
