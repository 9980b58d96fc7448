"""The pipeline: what comes in, what is behind, what was lost, from the receivers to the backends."""

from __future__ import annotations

from typing import Any

from deploy.dashboards.layout import board, choice, source
from deploy.dashboards.panels import RED_FROM_ONE, Query, figure, graph, quantile, row

_HERE = 'instance=~"$instance"'
_WRITER = f'{_HERE}, process=""'
"""Of the journal's writer: its reader in the other process shows the same families."""


def _rate(metric: str, by: str, labels: str = _HERE) -> str:
    return f"sum by ({by}) (rate({metric}{{{labels}}}[$__rate_interval]))"


def dashboard() -> Any:
    panels = [
        figure(
            "Evaluator up",
            Query(f'min(adhere_metrics_source_up{{{_HERE}, source="evaluator"}})'),
            says="0 while the evaluator process does not answer. Receiving and relaying go on.",
            thresholds=((None, "red"), (1, "green")),
        ),
        figure(
            "Journal",
            Query(f"max(adhere_journal_disk_bytes{{{_WRITER}}} / adhere_journal_max_bytes{{{_WRITER}}})"),
            says="Share of journal.max_bytes in use. At its bound, receivers refuse.",
            unit="percentunit",
            thresholds=((None, "green"), (0.7, "red")),
        ),
        figure(
            "Evaluator behind",
            Query(f'max(adhere_journal_oldest_unread_seconds{{{_HERE}, cursor="evaluator"}})'),
            says="Age of the oldest request that the evaluator has not read.",
            unit="s",
            thresholds=((None, "green"), (120, "orange")),
        ),
        figure(
            "Lost",
            Query(f"sum(adhere_journal_lost_records_total{{{_HERE}}}) or vector(0)"),
            says="Records that a reader never saw, since they were damaged or had to make room.",
            thresholds=RED_FROM_ONE,
        ),
        row("What comes in"),
        graph(
            "Accepted",
            Query(_rate("adhere_receiver_accepted_items_total", "transport, signal"), "{{transport}} {{signal}}"),
            says="Spans, log records and metrics acknowledged.",
            unit="cps",
            stacked=True,
        ),
        graph(
            "Refused",
            Query(_rate("adhere_receiver_refused_requests_total", "transport, code"), "{{transport}} {{code}}"),
            says="Requests refused, by the code that they were answered with.",
            unit="reqps",
        ),
        graph(
            "Time to acknowledge",
            Query(quantile(0.5, "adhere_receiver_ack_seconds", _HERE, "transport"), "{{transport}} median"),
            Query(quantile(0.99, "adhere_receiver_ack_seconds", _HERE, "transport"), "{{transport}} 99 %"),
            says="From a request's last byte to its acknowledgement, the disk included.",
            unit="s",
        ),
        graph(
            "Time of one fdatasync",
            Query(quantile(0.99, "adhere_journal_fsync_seconds", _WRITER), "99 %"),
            says="A slow disk shows here first.",
            unit="s",
        ),
        row("Journal and relays"),
        graph(
            "Journal on disk",
            Query(f"adhere_journal_disk_bytes{{{_WRITER}}}", "{{instance}}"),
            Query(f"adhere_journal_max_bytes{{{_WRITER}}}", "{{instance}} bound"),
            says="Requests stay until every reader has passed them.",
            unit="bytes",
        ),
        graph(
            "Readers behind",
            Query(
                f"max by (instance, cursor) (adhere_journal_oldest_unread_seconds{{{_HERE}}})",
                "{{instance}} {{cursor}}",
            ),
            says="Age of the oldest record that a reader has not passed.",
            unit="s",
        ),
        graph(
            "Relayed",
            Query(_rate("adhere_relay_relayed_requests_total", "destination, signal"), "{{destination}} {{signal}}"),
            says="Requests that destinations took.",
            unit="reqps",
            stacked=True,
        ),
        graph(
            "Relays: retries and losses",
            Query(_rate("adhere_relay_retries_total", "destination"), "{{destination}} retries"),
            Query(_rate("adhere_relay_dropped_requests_total", "destination, reason"), "{{destination}} {{reason}}"),
            says="Dropped is what a destination refused for good.",
            unit="reqps",
        ),
        graph(
            "Held for scores",
            Query(f"max by (destination) (adhere_enrich_oldest_age_seconds{{{_HERE}}})", "{{destination}}"),
            says="Age of the oldest span that a relay with enrich holds until its scores or its deadline.",
            unit="s",
        ),
        graph(
            "Went on, by why",
            Query(_rate("adhere_enrich_spans_total", "destination, outcome"), "{{destination}} {{outcome}}"),
            says="Spans that were held and went on: enriched, or why without scores.",
            unit="cps",
            stacked=True,
        ),
        row("Conversations"),
        graph(
            "Items",
            Query(_rate("adhere_live_items_total", "outcome"), "{{outcome}}"),
            says="Spans and log records by what became of them.",
            unit="cps",
            stacked=True,
        ),
        graph(
            "Units",
            Query(_rate("adhere_live_units_total", "kind, reason"), "{{kind}} {{reason}}"),
            says="Turns and conversations handed over to be judged, by why they were ready.",
            unit="cps",
            stacked=True,
        ),
        graph(
            "State on disk",
            Query(f"adhere_live_state_bytes{{{_HERE}}}", "{{instance}}"),
            says="Size of the conversations that are kept.",
            unit="bytes",
        ),
        graph(
            "Event loop lag",
            Query(quantile(0.99, "adhere_event_loop_lag_seconds", _HERE, "process"), "{{process}} 99 %"),
            says="How much later than asked for the event loop of a process woke up.",
            unit="s",
        ),
        row("Scores out"),
        graph(
            "Delivered",
            Query(_rate("adhere_export_delivered_total", "exporter"), "{{exporter}}"),
            says="Verdicts that backends took.",
            unit="cps",
            stacked=True,
        ),
        graph(
            "Waiting",
            Query(f"max by (exporter) (adhere_export_oldest_age_seconds{{{_HERE}}})", "{{exporter}}"),
            says="Age of the oldest verdict that waits for a backend.",
            unit="s",
        ),
        graph(
            "Backlog",
            Query(f"sum by (exporter) (adhere_export_backlog_verdicts{{{_HERE}}})", "{{exporter}}"),
            says="Verdicts that wait for a backend.",
        ),
        graph(
            "Exports: retries and losses",
            Query(_rate("adhere_export_retried_total", "exporter"), "{{exporter}} retries"),
            Query(_rate("adhere_export_dead_lettered_total", "exporter, reason"), "{{exporter}} {{reason}}"),
            says="Dead letters are verdicts that were given up for a backend.",
            unit="cps",
        ),
    ]
    variables = [source("prometheus", "prometheus"), choice("instance", "adhere_journal_disk_bytes")]
    return board(
        "adhere-pipeline",
        "Adhere / Pipeline",
        "What comes in, what is behind and what was lost, from the receivers to the backends.",
        variables,
        panels,
    )
