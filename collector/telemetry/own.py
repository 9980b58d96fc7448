"""Telling Adhere's own telemetry, judge calls and evaluations, from everybody else's, whoever sends it back to us."""

from __future__ import annotations

from collector.telemetry.records import LogRecord, Span

_OWN_SCOPE = "adhere"
_INTERNAL = "adhere.internal"


def is_own(item: Span | LogRecord) -> bool:
    name = item.scope.name
    if name.startswith(_OWN_SCOPE) and (name == _OWN_SCOPE or name[len(_OWN_SCOPE)] == "."):
        return True
    return (
        item.attributes.get(_INTERNAL) is True
        or item.scope.attributes.get(_INTERNAL) is True
        or item.resource.attributes.get(_INTERNAL) is True
    )
