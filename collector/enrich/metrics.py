"""Every metric of the holds. A span that was held leaves with exactly one outcome."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class HoldMetrics:
    """One for all enriching relays of a process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.spans = Counter(
            "adhere_enrich_spans_total",
            "Spans that were held and went on, by outcome: enriched, no_score (decided, and no evaluator gave one), "
            "deadline, not_a_target (of any turn), full (the hold was over its bound).",
            ("destination", "outcome"),
            registry=registry,
        )
        self.held_seconds = Histogram(
            "adhere_enrich_held_seconds",
            "How long spans were held, from when they were received.",
            ("destination",),
            registry=registry,
            buckets=(0.5, 1, 2, 5, 10, 20, 30, 60, 300),
        )
        self.held = Gauge(
            "adhere_enrich_held_spans", "Spans that are held at present.", ("destination",), registry=registry
        )
        self.held_bytes = Gauge(
            "adhere_enrich_held_bytes", "Bytes of the spans held at present.", ("destination",), registry=registry
        )
        self.oldest_age_s = Gauge(
            "adhere_enrich_oldest_age_seconds",
            "Age of the oldest span that is held; 0 where there is none.",
            ("destination",),
            registry=registry,
        )
        self.failures = Counter(
            "adhere_enrich_store_failures_total",
            "Failures to write the file of held spans; reading waits, and what was sent since may be sent again.",
            ("destination",),
            registry=registry,
        )
        self.set_aside = Counter(
            "adhere_enrich_files_set_aside_total",
            "Unsound files of held spans that were set aside; the spans in them are lost to the destination.",
            ("destination",),
            registry=registry,
        )
