"""A real `adhere run` in a folder of its own, on free loopback ports."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from adhere.errors import CommandError
from adhere.run.data_dir import Addresses, DataDir

_START_S = 90.0
_STOP_S = 15.0
_POLL_S = 0.05


def write_config(folder: Path, *, judge: Mapping[str, Any] | None) -> Path:
    """What a person would write, with the waits of production shortened to seconds."""
    document: dict[str, Any] = {
        "data_dir": str(folder / "data"),
        "receivers": {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}},
        "telemetry": {"endpoint": "127.0.0.1:0"},
        "conversations": {
            "quiet": {"default_s": 0.5, "min_s": 0.5, "max_s": 1.0},
            "turn_idle": {"default_s": 1.0, "min_s": 1.0, "max_s": 2.0},
            "conversation_idle": {"default_s": 1.5, "min_s": 1.0, "max_s": 2.0},
        },
        "evaluators": [
            {
                "rules": {
                    "rules": [
                        {
                            "name": "identity first",
                            "before": "issue_refund",
                            "require": "verify_identity",
                            "require_result": {"verified": True},
                        }
                    ]
                }
            },
            {"task_adherence": {"on": "conversation"}},
            {"role_adherence": {"on": "conversation"}},
            {"conversation_completeness": {"on": "conversation"}},
        ],
        "exporters": ["prometheus", "jsonl"],
    }
    if judge is not None:
        document["judge"] = dict(judge)
    path = folder / "adhere.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    return path


class Sidecar:
    """Its log goes to `adhere.log` beside the configuration."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._data = DataDir(folder / "data")
        self._log = folder / "adhere.log"

    async def ready(self) -> Addresses:
        """Wait until it receives. Raises CommandError with the end of its log when it does not."""
        try:
            async with asyncio.timeout(_START_S):
                while self._process.returncode is None:
                    # The evaluator is not needed to receive, but without it the first verdict would come late.
                    addresses = self._data.read_addresses()
                    if addresses is not None and self._data.read_evaluator_port() is not None:
                        return addresses
                    await asyncio.sleep(_POLL_S)
        except TimeoutError as err:
            raise CommandError(f"Adhere did not start within {_START_S:g} s:\n{_tail(self._log)}") from err
        raise CommandError(f"Adhere did not start (exit code {self._process.returncode}):\n{_tail(self._log)}")


@asynccontextmanager
async def started(config: Path, *, environ: Mapping[str, str]) -> AsyncIterator[Sidecar]:
    """Starts at once, becomes ready on its own, and is ended in order afterwards."""
    folder = config.parent
    with (folder / "adhere.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "adhere", "run", "--config", str(config)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environ},
        )
        try:
            yield Sidecar(process, folder)
        finally:
            await _stop(process)


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _tail(log: Path, *, lines: int = 10) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
