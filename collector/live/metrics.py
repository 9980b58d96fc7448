"""The live state's own metrics. Every item that is read ends in exactly one outcome."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from collector.live.staged_counts import StagedCounts


class LiveMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.staged = StagedCounts()
        self.records = Counter(
            "adhere_live_records_total",
            "Journal records by what became of them: read, malformed (set aside), skipped (already in the state).",
            ["outcome"],
            registry=registry,
        )
        self.items = Counter(
            "adhere_live_items_total",
            "Spans and log records by what became of them: stored, duplicate (sent again), unrelated (no GenAI "
            "telemetry in their trace), loop (ours), unreadable (set aside), too_large (conversation over its bound).",
            ["outcome"],
            registry=registry,
        )
        self.units = Counter(
            "adhere_live_units_total",
            "Units handed over, by kind (turn, conversation, withdrawn), reason, and whether it is a later revision.",
            ["kind", "reason", "revised"],
            registry=registry,
        )
        self.late = Counter(
            "adhere_live_late_items_total",
            "Items that arrived after their turn's end was known.",
            registry=registry,
        )
        self.failures = Counter(
            "adhere_live_failures_total",
            "Unexpected failures that were contained, by the place where they were.",
            ["where"],
            registry=registry,
        )
        self.retired = Counter(
            "adhere_live_retired_conversations_total",
            "Conversations deleted, by the bound that asked for it: age, bytes.",
            ["reason"],
            registry=registry,
        )
        self.set_aside = Counter(
            "adhere_live_state_set_aside_total", "Unsound state files that were set aside.", registry=registry
        )
        self.pending_bytes = Gauge(
            "adhere_live_pending_bytes",
            "Memory taken by spans whose traces showed no GenAI telemetry so far.",
            registry=registry,
        )
        self.state_bytes = Gauge(
            "adhere_live_state_bytes", "Size of the state's live pages on disk.", registry=registry
        )
        self.lag_seconds = Gauge(
            "adhere_live_lag_seconds", "Age of the newest record read when it was read.", registry=registry
        )
        self.ingest_seconds = Histogram(
            "adhere_live_ingest_seconds",
            "Time to bring one batch of journal records into the state.",
            registry=registry,
            buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10),
        )
