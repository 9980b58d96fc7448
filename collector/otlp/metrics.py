"""Every metric of the receivers. A request ends in exactly one of accepted and refused."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from collector.otlp.admission import Admission
from collector.otlp.status import WireStatus
from collector.telemetry.records import Signal

_LATENCY_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ReceiverMetrics:
    """One for both receivers of a process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by_signal = ("transport", "signal")
        self.requests = Counter(
            "adhere_receiver_accepted_requests_total",
            "Requests acknowledged, empty ones included.",
            by_signal,
            registry=registry,
        )
        self.items = Counter(
            "adhere_receiver_accepted_items_total",
            "Spans, log records and metrics acknowledged.",
            by_signal,
            registry=registry,
        )
        self.bytes = Counter(
            "adhere_receiver_accepted_bytes_total",
            "Bytes of acknowledged requests as protobuf, after decompression.",
            by_signal,
            registry=registry,
        )
        self.refused = Counter(
            "adhere_receiver_refused_requests_total",
            "Requests refused, by the gRPC code that they were or would have been answered with.",
            ("transport", "code"),
            registry=registry,
        )
        self.abandoned = Counter(
            "adhere_receiver_abandoned_requests_total",
            "Requests whose client left before they had arrived in full.",
            ("transport",),
            registry=registry,
        )
        self.latency = Histogram(
            "adhere_receiver_ack_seconds",
            "From a request's last byte to its acknowledgement.",
            ("transport",),
            buckets=_LATENCY_BUCKETS_S,
            registry=registry,
        )
        self.in_flight_bytes = Gauge(
            "adhere_receiver_in_flight_bytes", "Bytes of request bodies in memory.", registry=registry
        )
        self.connections = Gauge(
            "adhere_receiver_connections", "Open connections, where known.", ("transport",), registry=registry
        )

    def watch(self, admission: Admission) -> None:
        self.in_flight_bytes.set_function(lambda: admission.bytes)

    def count_accepted(self, transport: str, signal: Signal, *, items: int, size: int, seconds: float) -> None:
        self.requests.labels(transport, signal.value).inc()
        self.items.labels(transport, signal.value).inc(items)
        self.bytes.labels(transport, signal.value).inc(size)
        self.latency.labels(transport).observe(seconds)

    def count_refused(self, transport: str, status: WireStatus) -> None:
        self.refused.labels(transport, status.grpc_code.name.lower()).inc()
