"""Names of the outer levels of an Export*ServiceRequest in OTLP/JSON."""

from __future__ import annotations

from dataclasses import dataclass

from collector.telemetry.records import Signal


@dataclass(frozen=True, slots=True)
class EnvelopeNames:
    groups: str
    scopes: str
    items: str


ENVELOPE_NAMES = {
    Signal.TRACES: EnvelopeNames(groups="resourceSpans", scopes="scopeSpans", items="spans"),
    Signal.LOGS: EnvelopeNames(groups="resourceLogs", scopes="scopeLogs", items="logRecords"),
    Signal.METRICS: EnvelopeNames(groups="resourceMetrics", scopes="scopeMetrics", items="metrics"),
}

HEX_FIELDS = frozenset({"trace_id", "span_id", "parent_span_id"})
"""OTLP/JSON writes ids in hex where protobuf's own JSON form has base64."""
