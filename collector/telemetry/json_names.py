"""Names of the outer levels of an Export*ServiceRequest in OTLP/JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from collector.telemetry.records import Signal

_HUMP = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class EnvelopeNames:
    groups: str
    scopes: str
    items: str


def member(source: Mapping[str, object], name: str) -> object:
    """A field by its lowerCamelCase name, else by the name that the protobuf file has for it."""
    value = source.get(name)
    return value if value is not None else source.get(snake_case(name))


@cache
def snake_case(name: str) -> str:
    return _HUMP.sub(lambda hump: f"_{hump[0].lower()}", name)


ENVELOPE_NAMES = {
    Signal.TRACES: EnvelopeNames(groups="resourceSpans", scopes="scopeSpans", items="spans"),
    Signal.LOGS: EnvelopeNames(groups="resourceLogs", scopes="scopeLogs", items="logRecords"),
    Signal.METRICS: EnvelopeNames(groups="resourceMetrics", scopes="scopeMetrics", items="metrics"),
}

HEX_FIELDS = frozenset({"trace_id", "span_id", "parent_span_id"})
"""OTLP/JSON writes ids in hex where protobuf's own JSON form has base64."""
