"""A real Adhere as a process that a test may signal, kill and start again on the same folder.

async with AdhereProcess(write_config(folder)) as adhere:
    addresses = await adhere.ready()
    os.kill(adhere.children()["collector"], signal.SIGKILL)
    assert await adhere.terminate() == 0
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

import yaml

from adhere.run.data_dir import Addresses, DataDir
from tests.support.running_adhere import NO_JUDGE_FROM_ENVIRONMENT
from tests.support.until import until

Role = Literal["all", "collector", "evaluator"]
_START_S = 180.0
"""Generous, since the machine may be busy; nothing waits longer than it must."""


class AdhereProcess:
    """Its output goes to a file beside the configuration; what is left of it is killed when the block is left."""

    def __init__(
        self,
        config: Path,
        *,
        role: Role = "all",
        as_command: bool = False,
        environ: Mapping[str, str] = {},
        new_session: bool = False,
    ) -> None:
        """`as_command`: as `adhere run`, which checks everything first; else what that command becomes, at once, and a
        fallen child starts again without much of a wait.
        """
        document = yaml.safe_load(config.read_text())
        self.data = DataDir(Path(document["data_dir"]))
        self.log = config.with_name(f"{role}.log")
        self._environ = {**os.environ, **NO_JUDGE_FROM_ENVIRONMENT, **environ}
        self._command = _command(config, role, as_command=as_command, shutdown_s=document.get("shutdown_s", 25))
        self._role = role
        self._new_session = new_session
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        left = [*self.children().values()]
        if self._process is not None and self._process.returncode is None:
            self.signal(signal.SIGKILL)
            await self._process.wait()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environ,
                start_new_session=self._new_session,
            )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        assert self._process is not None
        return self._process.returncode

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def wait(self, *, timeout_s: float = 150.0) -> int:
        """The exit code; negative for the signal that ended it."""
        assert self._process is not None
        return await asyncio.wait_for(self._process.wait(), timeout_s)

    async def terminate(self, *, timeout_s: float = 150.0) -> int:
        self.signal(signal.SIGTERM)
        return await self.wait(timeout_s=timeout_s)

    async def ready(self) -> Addresses:
        """Once it receives; with an evaluator of its own, once that one is up too."""
        await until(lambda: self.returncode is not None or self._is_up(), timeout_s=_START_S)
        addresses = self.data.read_addresses()
        if self.returncode is not None or addresses is None:
            raise AssertionError(f"Adhere ended with {self.returncode}:\n{self.output()}")
        return addresses

    def children(self) -> dict[str, int]:
        """The processes of a supervisor, by role; those that are being started or are gone are not there."""
        return {} if self._process is None else children_of(self.pid)

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def _is_up(self) -> bool:
        return self.data.read_addresses() is not None and (
            self._role == "collector" or self.data.read_evaluator_port() is not None
        )


def children_of(pid: int) -> dict[str, int]:
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_text().split("\0") if parent == pid else []
        except (OSError, ValueError):  # It ended while we looked.
            continue
        if "adhere.run.role" in words:
            found[words[words.index("adhere.run.role") + 1]] = int(entry.name)
    return found


def is_alive(pid: int) -> bool:
    """False for a zombie too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _command(config: Path, role: Role, *, as_command: bool, shutdown_s: float) -> Sequence[str]:
    python, given = [sys.executable, "-P", "-m"], ["--config", str(config)]
    if as_command:
        return [*python, "adhere", "run", *given, "--role", role]
    if role == "all":
        waits = ["--shutdown-s", f"{shutdown_s:g}", "--restart-max-s", "0.1"]
        return [*python, "adhere.run.supervise", *waits, *given]
    return [*python, "adhere.run.role", role, *given]
