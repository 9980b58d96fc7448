"""Takes recorded requests apart and puts them together anew: the same spans and log records in other requests."""

from __future__ import annotations

import random
from collections.abc import Iterable

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.telemetry.json_decode import json_to_protobuf
from collector.telemetry.json_encode import protobuf_to_json
from collector.telemetry.records import Signal

Request = tuple[Signal, bytes]


def single_items(requests: Iterable[Request]) -> list[Request]:
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


def recut(requests: Iterable[Request], rng: random.Random) -> list[Request]:
    """Each item one to three times, in any order, in requests of any size, some of them by way of JSON."""
    items = [item for item in single_items(requests) for _ in range(rng.choice((1, 1, 2, 3)))]
    rng.shuffle(items)
    found: list[Request] = []
    while items:
        count = rng.randint(1, 6)
        taken, items = items[:count], items[count:]
        for signal in (Signal.TRACES, Signal.LOGS):
            # Requests of one signal are joined as OTLP joins them: by concatenation.
            body = b"".join(one for of, one in taken if of is signal)
            if not body:
                continue
            if rng.random() < 0.3:
                body = json_to_protobuf(signal, protobuf_to_json(signal, body))
            found.append((signal, body))
    return found
