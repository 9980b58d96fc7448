"""Real captures cut anew: any order, any split, repetitions and JSON give the same conversations, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.assembly.reconstruct import reconstruct
from collector.assembly.render import to_json
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.support.corpus import THOROUGH, captures, sampled
from tests.support.recut import Request, recut

ROUNDS = 3 if THOROUGH else 1


def told(requests: list[Request]) -> list[bytes]:
    return [orjson.dumps(to_json(conversation)) for conversation in reconstruct(requests)]


def of_capture(capture: Path) -> list[Request]:
    return [request for request in read_jsonl(capture / "otlp.jsonl") if request[0] is not Signal.METRICS]


def _other(identifier: bytes) -> bytes:
    return bytes(byte ^ 0x55 for byte in identifier)


def in_service(requests: list[Request], service: str) -> list[Request]:
    """The same telemetry from a service of another name: other traces and spans, the same conversation ids."""
    changed: list[Request] = []
    for signal, body in requests:
        if signal is Signal.TRACES:
            traces = ExportTraceServiceRequest.FromString(body)
            _rename([group.resource for group in traces.resource_spans], service)
            for span in (s for group in traces.resource_spans for scope in group.scope_spans for s in scope.spans):
                span.trace_id, span.span_id = _other(span.trace_id), _other(span.span_id)
                span.parent_span_id = _other(span.parent_span_id)
            changed.append((signal, traces.SerializeToString()))
        else:
            logs = ExportLogsServiceRequest.FromString(body)
            _rename([group.resource for group in logs.resource_logs], service)
            for record in (r for group in logs.resource_logs for scope in group.scope_logs for r in scope.log_records):
                record.trace_id, record.span_id = _other(record.trace_id), _other(record.span_id)
            changed.append((signal, logs.SerializeToString()))
    return changed


def _rename(resources: Iterable[Resource], service: str) -> None:
    for resource in resources:
        for pair in resource.attributes:
            if pair.key == "service.name":
                pair.value.string_value = service


@pytest.mark.parametrize("capture", sampled("*", every=9))
def test_the_cut_changes_nothing(capture: Path) -> None:
    requests = of_capture(capture)
    expected = told(requests)
    rng = random.Random(f"{capture.parent.name}/{capture.name}")

    for _ in range(ROUNDS):
        assert told(recut(requests, rng)) == expected


@pytest.mark.parametrize("capture", sampled("*", every=17))
def test_another_capture_in_between_changes_nothing(capture: Path) -> None:
    rng = random.Random(capture.as_posix()[-40:])
    other = of_capture(
        rng.choice([found for found in captures("*") if found.name == capture.name and found != capture])
    )
    own = of_capture(capture)

    together = told(recut([*own, *other], rng))

    assert sorted(together) == sorted([*told(own), *told(other)])


@pytest.mark.parametrize("capture", sampled("semconv_manual*", "openinference_openai*", "langgraph_*", every=5))
def test_equal_conversation_ids_in_two_services_are_two_conversations(capture: Path) -> None:
    rng = random.Random(7)
    here, there = of_capture(capture), in_service(of_capture(capture), "there")

    together = told(recut([*here, *there], rng))

    assert sorted(together) == sorted([*told(here), *told(there)])
