"""Runs the sample agent application against an endpoint, as a process."""

from __future__ import annotations

import asyncio
import json
import os
import sys


async def run_app(endpoint: str, *, protocol: str, conversation_id: str) -> list[dict[str, str]]:
    """The ids of its turns' spans."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.agent_app", protocol, conversation_id),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "OTEL_SERVICE_NAME": "library", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
    )
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]
