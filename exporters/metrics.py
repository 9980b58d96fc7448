"""The exporters' own metrics: what became of every verdict, by destination.

Every verdict that the outbox accepts ends, for each destination, in exactly one of delivered and dead-lettered; until
then it is in the backlog. A retry is no loss and is counted by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge


class ExportMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.accepted = Counter("adhere_outbox_accepted", "Verdicts that the outbox made durable.", registry=registry)
        self.duplicates = Counter(
            "adhere_outbox_duplicates", "Verdicts handed over again under a known id.", registry=registry
        )
        self.corrupt_files = Counter(
            "adhere_outbox_corrupt_files", "Outbox files that were set aside as corrupt.", registry=registry
        )
        self.delivered = Counter(
            "adhere_export_delivered", "Verdicts that the destination took.", ["exporter"], registry=registry
        )
        self.retried = Counter(
            "adhere_export_retried",
            "Failed tries that will be made again, in verdicts.",
            ["exporter"],
            registry=registry,
        )
        self.dead_lettered = Counter(
            "adhere_export_dead_lettered",
            "Verdicts given up for a destination, kept as dead letters.",
            ["exporter", "reason"],
            registry=registry,
        )
        self.skipped = Counter(
            "adhere_export_skipped",
            "Verdicts counted as delivered that the destination has no form for, so that nothing was sent.",
            ["exporter", "reason"],
            registry=registry,
        )
        self.crashes = Counter(
            "adhere_export_crashes", "Errors that an exporter should not have raised.", ["exporter"], registry=registry
        )
        self.rejected = Counter(
            "adhere_export_rejected",
            "Items that the destination rejected in a partial success, which may not be sent again.",
            ["exporter"],
            registry=registry,
        )
        self.push_failures = Counter(
            "adhere_export_push_failures",
            "Pushes of metrics that failed; the next one makes them good.",
            ["exporter"],
            registry=registry,
        )
        self._backlog_rows = Gauge(
            "adhere_export_backlog_verdicts", "Verdicts that wait for the destination.", ["exporter"], registry=registry
        )
        self._backlog_bytes = Gauge(
            "adhere_export_backlog_bytes", "Size of what waits for the destination.", ["exporter"], registry=registry
        )
        self._oldest_age = Gauge(
            "adhere_export_oldest_age_seconds",
            "Age of the oldest verdict that waits for the destination; 0 if none does.",
            ["exporter"],
            registry=registry,
        )

    def watch(
        self, exporter: str, *, rows: Callable[[], float], size: Callable[[], float], oldest_age_s: Callable[[], float]
    ) -> None:
        """Read the backlog whenever somebody asks, and show the outcome counters from the start, at zero."""
        self._backlog_rows.labels(exporter).set_function(rows)
        self._backlog_bytes.labels(exporter).set_function(size)
        self._oldest_age.labels(exporter).set_function(oldest_age_s)
        self.delivered.labels(exporter)
        self.retried.labels(exporter)
