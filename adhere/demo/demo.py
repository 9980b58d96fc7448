"""The demo itself: start the sidecar, send the recordings, show verdicts as they come."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adhere.demo.sidecar import started, write_config


async def run_demo(folder: Path, *, judge: Mapping[str, Any] | None, environ: Mapping[str, str]) -> None:
    """Raises CommandError when the sidecar does not come up or the known fault is not flagged in time."""
    config = write_config(folder, judge=judge)
    async with started(config, environ=environ) as sidecar:
        # Loaded while the sidecar loads the same on the other core.
        from adhere.demo.session import Session  # noqa: PLC0415

        session = Session(config, asks_a_model=judge is not None or bool(environ.get("OPENAI_API_KEY")))
        await session.run(sidecar)
    session.conclude()
