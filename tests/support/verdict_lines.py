"""Verdicts as the JSONL exporter wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def verdict_lines(path: Path) -> list[Mapping[str, Any]]:
    """Whole lines only; the last one may still be written."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
