"""A real `adhere run` in a temporary folder, with the waits of production shortened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from adhere.demo.sidecar import Sidecar, started
from adhere.run.data_dir import Addresses

QUICK_WAITS: Mapping[str, Any] = {
    "quiet": {"default_s": 0.3, "min_s": 0.3, "max_s": 0.5},
    "turn_idle": {"default_s": 0.5, "min_s": 0.5, "max_s": 1.0},
    "conversation_idle": {"default_s": 1.0, "min_s": 1.0, "max_s": 1.0},
    "revision_interval_s": 0.1,
}
NO_JUDGE_FROM_ENVIRONMENT: Mapping[str, str] = {
    "OPENAI_API_KEY": "",
    "OPENAI_BASE_URL": "",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "",
}
"""What the machine of a developer may have set."""


def write_config(folder: Path, **changes: Any) -> Path:
    """Free ports, state below the folder, short waits; `changes` are top-level keys of the configuration."""
    document: dict[str, Any] = {
        "data_dir": str(folder / "data"),
        "receivers": {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}},
        "telemetry": {"endpoint": "127.0.0.1:0", "logs": {"level": "info", "format": "json"}},
        "conversations": dict(QUICK_WAITS),
        "exporters": ["prometheus", "jsonl"],
        **changes,
    }
    path = folder / "adhere.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


@asynccontextmanager
async def running_adhere(folder: Path, **changes: Any) -> AsyncIterator[tuple[Sidecar, Addresses]]:
    """Ready when entered; ended in order when left."""
    async with started(write_config(folder, **changes), environ=NO_JUDGE_FROM_ENVIRONMENT) as sidecar:
        yield sidecar, await sidecar.ready()
