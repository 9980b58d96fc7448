"""A dashboard from its panels: left to right, line by line, with the variables at its head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deploy.dashboards.panels import PROMETHEUS, Panel

_COLUMNS = 24


def source(name: str, kind: str) -> dict[str, Any]:
    """Which data source to ask."""
    return {"type": "datasource", "name": name, "label": name.capitalize(), "query": kind, "refresh": 1, "hide": 0}


def choice(name: str, metric: str, label: str | None = None) -> dict[str, Any]:
    """Values of a metric's label, all of them until some are chosen."""
    query = f"label_values({metric}, {label or name})"
    return {
        "type": "query",
        "name": name,
        "label": name.capitalize(),
        "datasource": dict(PROMETHEUS),
        "definition": query,
        "query": {"query": query, "refId": "values"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def board(uid: str, title: str, says: str, variables: Sequence[dict[str, Any]], panels: Sequence[Panel]) -> Any:
    return {
        "uid": uid,
        "title": title,
        "description": says,
        "tags": ["adhere"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "",
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": list(variables)},
        "annotations": {"list": []},
        "links": [
            {
                "type": "dashboards",
                "tags": ["adhere"],
                "title": "Adhere",
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "panels": list(_placed(panels)),
    }


def _placed(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    x = y = line_height = 0
    for number, panel in enumerate(panels, start=1):
        if x + panel.width > _COLUMNS:
            x, y, line_height = 0, y + line_height, 0
        place = {"x": x, "y": y, "w": panel.width, "h": panel.height}
        yield {"id": number, "title": panel.title, "gridPos": place, **panel.body}
        x += panel.width
        line_height = max(line_height, panel.height)
