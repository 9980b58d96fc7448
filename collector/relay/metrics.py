"""Every metric of the relay. A request that the relay read ends in exactly one of relayed, dropped or not selected."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class RelayMetrics:
    """One for all destinations of a process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by_signal = ("destination", "signal")
        self.relayed = Counter(
            "adhere_relay_relayed_requests_total",
            "Requests the destination took, partial successes included.",
            by_signal,
            registry=registry,
        )
        self.relayed_bytes = Counter(
            "adhere_relay_relayed_bytes_total",
            "Bytes of relayed requests before compression.",
            by_signal,
            registry=registry,
        )
        self.dropped = Counter(
            "adhere_relay_dropped_requests_total",
            "Requests lost to the destination, in whole or in part: refused for good, or given up.",
            (*by_signal, "reason"),
            registry=registry,
        )
        self.not_selected = Counter(
            "adhere_relay_not_selected_requests_total",
            "Requests of a signal that this destination is not meant to get.",
            by_signal,
            registry=registry,
        )
        self.rejected_items = Counter(
            "adhere_relay_rejected_items_total",
            "Spans, log records or data points that a destination rejected in a partial success.",
            by_signal,
            registry=registry,
        )
        self.retries = Counter(
            "adhere_relay_retries_total",
            "Tries that failed and are repeated.",
            by_signal,
            registry=registry,
        )
        self.splits = Counter(
            "adhere_relay_splits_total",
            "Cuts in two of a request that the destination refused as too large.",
            by_signal,
            registry=registry,
        )
        self.dead_letters_lost = Counter(
            "adhere_relay_dead_letters_lost_total",
            "Refused requests that are no longer kept: the oldest above the folder's bound, or not writable.",
            ("destination",),
            registry=registry,
        )
        self.commit_failures = Counter(
            "adhere_relay_commit_failures_total",
            "Failures to make the relay's place in the journal durable; what was relayed since may be sent again.",
            ("destination",),
            registry=registry,
        )
        self.read_failures = Counter(
            "adhere_relay_read_failures_total",
            "Failures to read the journal; the read is repeated.",
            ("destination",),
            registry=registry,
        )
        self.in_flight_requests = Gauge(
            "adhere_relay_in_flight_requests",
            "Requests read and not yet done with.",
            ("destination",),
            registry=registry,
        )
        self.in_flight_bytes = Gauge(
            "adhere_relay_in_flight_bytes",
            "Bytes of the requests read and not yet done with.",
            ("destination",),
            registry=registry,
        )
        self.oldest_age_s = Gauge(
            "adhere_relay_oldest_age_seconds",
            "Age of the oldest request that is not done with; 0 where there is none.",
            ("destination",),
            registry=registry,
        )
