"""Which dashboards there are, and their text as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from deploy.dashboards import adherence, flagged, judge, pipeline

FOLDER = Path(__file__).resolve().parents[1] / "grafana" / "dashboards"


def files() -> Mapping[str, str]:
    made = (adherence.dashboard(), flagged.dashboard(), judge.dashboard(), pipeline.dashboard())
    return {f"{one['uid']}.json": json.dumps(one, indent=2, ensure_ascii=False) + "\n" for one in made}
