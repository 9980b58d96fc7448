"""Real captures through the live state: what offline reconstruction gives, in any order and any split."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.assembly.reconstruct import reconstruct
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.collector.live.test_orders import last_words
from tests.support.live_state import LiveHarness

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the folder of real captures beside the checkout"),
]

Request = tuple[Signal, bytes]


def single_items(requests: list[Request]) -> list[Request]:
    """Every span and log record in a request of its own."""
    found: list[Request] = []
    for signal, body in requests:
        if signal is Signal.TRACES:
            whole = ExportTraceServiceRequest.FromString(body)
            for group in whole.resource_spans:
                for scope in group.scope_spans:
                    for span in scope.spans:
                        one = ExportTraceServiceRequest()
                        target = one.resource_spans.add(resource=group.resource)
                        target.scope_spans.add(scope=scope.scope).spans.append(span)
                        found.append((signal, one.SerializeToString()))
        elif signal is Signal.LOGS:
            logs = ExportLogsServiceRequest.FromString(body)
            for log_group in logs.resource_logs:
                for log_scope in log_group.scope_logs:
                    for record in log_scope.log_records:
                        one_log = ExportLogsServiceRequest()
                        log_target = one_log.resource_logs.add(resource=log_group.resource)
                        log_target.scope_logs.add(scope=log_scope.scope).log_records.append(record)
                        found.append((signal, one_log.SerializeToString()))
    return found


def captures() -> list[Path]:
    return sorted(CORPUS.glob("*/*/otlp.jsonl"))


def sample(count: int, *, seed: int) -> list[Path]:
    every = captures()
    return random.Random(seed).sample(every, min(count, len(every)))


@pytest.mark.parametrize("path", sample(24, seed=5), ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
async def test_a_capture_in_any_order_gives_what_reconstruction_gives(tmp_path: Path, path: Path):
    rng = random.Random(path.as_posix().rpartition("/corpus/")[2])
    requests = [request for request in read_jsonl(path) if request[0] is not Signal.METRICS]
    expected = reconstruct(requests)
    items = single_items(requests)
    items += rng.sample(items, len(items) // 4)
    rng.shuffle(items)
    live = LiveHarness(tmp_path)

    for signal, body in items:
        live.receive(body, signal=signal)
        if rng.random() < 0.2:
            live.read()
            live.due()
        if rng.random() < 0.1:
            await live.advance(10)
    live.read()
    found = await last_words(live)

    assert found == expected
    live.close()


async def test_captures_of_two_services_at_once_are_kept_apart(tmp_path: Path):
    paths = sample(6, seed=8)
    requests = [[request for request in read_jsonl(path) if request[0] is not Signal.METRICS] for path in paths]
    expected = reconstruct([request for capture in requests for request in capture])
    items = [item for capture in requests for item in single_items(capture)]
    random.Random(1).shuffle(items)
    live = LiveHarness(tmp_path)

    for signal, body in items:
        live.receive(body, signal=signal)
    live.read()
    found = await last_words(live)

    assert found == expected
    live.close()
