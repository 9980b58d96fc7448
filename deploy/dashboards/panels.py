"""Panels in Grafana's JSON model: what is shown, in which unit; where each stands is the dashboard's business."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROMETHEUS: Mapping[str, str] = {"type": "prometheus", "uid": "${prometheus}"}
TEMPO: Mapping[str, str] = {"type": "tempo", "uid": "${tempo}"}

GREEN_FROM_NINE_TENTHS = ((None, "red"), (0.8, "orange"), (0.9, "green"))
RED_FROM_ONE = ((None, "green"), (1, "red"))


@dataclass(frozen=True, slots=True)
class Query:
    expr: str
    legend: str = ""
    exemplars: bool = False
    """Points beside the line that lead to the traces behind it."""


def quantile(share: float, metric: str, labels: str, by: str = "") -> str:
    """The query for it, of a histogram."""
    grouping = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({grouping}) (rate({metric}_bucket{{{labels}}}[$__rate_interval])))"


@dataclass(frozen=True, slots=True)
class Panel:
    """`width` is of 24 columns."""

    title: str
    width: int
    height: int
    body: Mapping[str, Any] = field(default_factory=dict)


def row(title: str) -> Panel:
    return Panel(title, 24, 1, {"type": "row", "collapsed": False, "panels": []})


def graph(
    title: str,
    *queries: Query,
    says: str,
    unit: str = "short",
    stacked: bool = False,
    bounds: tuple[float, float] | None = None,
    width: int = 12,
) -> Panel:
    custom = {"fillOpacity": 30 if stacked else 8, "showPoints": "never", "stacking": _stacking(stacked)}
    defaults: dict[str, Any] = {"unit": unit, "min": 0, "custom": custom}
    if bounds is not None:
        defaults |= {"min": bounds[0], "max": bounds[1]}
    options = {
        "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"], "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return Panel(title, width, 8, _body("timeseries", says, queries, defaults, options))


def figure(
    title: str,
    query: Query,
    *,
    says: str,
    unit: str = "short",
    thresholds: Sequence[tuple[float | None, str]] = ((None, "blue"),),
    width: int = 6,
) -> Panel:
    steps = [{"value": value, "color": color} for value, color in thresholds]
    defaults = {
        "unit": unit,
        "color": {"mode": "thresholds"},
        "thresholds": {"mode": "absolute", "steps": steps},
        "noValue": "none",
    }
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "auto",
    }
    return Panel(title, width, 4, _body("stat", says, [query], defaults, options, instant=True))


def table(title: str, columns: Mapping[str, tuple[str, str]], *, says: str, width: int = 24) -> Panel:
    """One line a set of labels; `columns` gives each column's query and unit.

    Grafana names a value after its query only where there are several.
    """
    queries = [Query(expr) for expr, _ in columns.values()]
    overrides = [
        {
            "matcher": {"id": "byName", "options": f"Value #{_ref(index)}" if len(columns) > 1 else "Value"},
            "properties": [{"id": "displayName", "value": name}, {"id": "unit", "value": unit}],
        }
        for index, (name, (_, unit)) in enumerate(columns.items())
    ]
    body = _body("table", says, queries, {}, {"showHeader": True}, instant=True)
    for target in body["targets"]:
        target["format"] = "table"
    body["fieldConfig"]["overrides"] = overrides
    body["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": {}}},
    ]
    return Panel(title, width, 9, body)


def heatmap(title: str, query: Query, *, says: str, width: int = 12) -> Panel:
    body = _body("heatmap", says, [query], {}, {"calculate": False, "yAxis": {"unit": "short"}, "color": _GREENS})
    for target in body["targets"]:
        target["format"] = "heatmap"
    return Panel(title, width, 8, body)


def traces(title: str, traceql: str, *, says: str) -> Panel:
    """Spans that a search of Tempo finds; each line leads to its trace."""
    target = {
        "refId": "A",
        "datasource": dict(TEMPO),
        "queryType": "traceql",
        "query": traceql,
        "tableType": "spans",
        "limit": 100,
        "spss": 10,
    }
    body = {
        "type": "table",
        "description": says,
        "datasource": dict(TEMPO),
        "targets": [target],
        "fieldConfig": {"defaults": {}, "overrides": []},
        "options": {"showHeader": True, "cellHeight": "sm"},
    }
    return Panel(title, 24, 12, body)


def _body(
    kind: str,
    says: str,
    queries: Sequence[Query],
    defaults: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    instant: bool = False,
) -> dict[str, Any]:
    return {
        "type": kind,
        "description": says,
        "datasource": dict(PROMETHEUS),
        "targets": [_target(index, query, instant=instant) for index, query in enumerate(queries)],
        "fieldConfig": {"defaults": dict(defaults), "overrides": []},
        "options": dict(options),
    }


def _target(index: int, query: Query, *, instant: bool) -> dict[str, Any]:
    return {
        "refId": _ref(index),
        "datasource": dict(PROMETHEUS),
        "expr": query.expr,
        "legendFormat": query.legend or "__auto",
        "instant": instant,
        "range": not instant,
        "exemplar": query.exemplars,
    }


def _ref(index: int) -> str:
    return chr(ord("A") + index)


def _stacking(stacked: bool) -> dict[str, str]:  # noqa: FBT001 - one option in, one out
    return {"mode": "normal" if stacked else "none", "group": "A"}


_GREENS = {"mode": "scheme", "scheme": "Greens", "steps": 64}
