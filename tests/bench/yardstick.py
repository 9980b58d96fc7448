"""How fast this machine is at the moment: the cost of plain protobuf parsing, which no change of ours touches.

Figures of different days and machines compare once divided by it.
"""

from __future__ import annotations

import time

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_ROUNDS = 5
_BODIES = 20


def parse_us_per_span(bodies: list[bytes]) -> float:
    """CPU of parsing and of reading every attribute of each span into a dictionary; the least of some rounds."""
    return min(_round(bodies[:_BODIES]) for _ in range(_ROUNDS))


def _round(bodies: list[bytes]) -> float:
    spans = 0
    began_s = time.process_time()
    for body in bodies:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in group.scope_spans:
                for span in scope.spans:
                    spans += 1
                    _ = {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}
    return (time.process_time() - began_s) / spans * 1e6
