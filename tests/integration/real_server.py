"""A server of another project, started on loopback and ended by its id.

Everything has a bound: starting, stopping, and a script in its environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

START_S = 300
STOP_S = 20
SCRIPT_S = 180


@dataclass(frozen=True, slots=True)
class RealServer:
    programs: Callable[[], Path]
    """Installs it; gives the folder of its programs."""
    command: tuple[str, ...]
    """The first is one of the programs. Here, in `health` and in `environ`, `{folder}` and `{port}` are filled in, and
    two more ports, `{second_port}` and `{third_port}`."""
    health: str
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningServer:
    url: str
    second_url: str
    python: Path
    environ: Mapping[str, str]

    def ask(self, script: str, *arguments: str) -> Any:
        """What a script prints as JSON that runs with the server's own client; it has `url` and `arguments`."""
        head = "import json, sys\nurl, *arguments = sys.argv[1:]\n"
        done = subprocess.run(
            [self.python, "-W", "ignore", "-c", head + script, self.url, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=SCRIPT_S,
            env=dict(self.environ),
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def running(server: RealServer, folder: Path) -> Iterator[RunningServer]:
    """Healthy when entered, ended when left."""
    bin_folder = server.programs()
    filled = {**dict(zip(("port", "second_port", "third_port"), _free_ports(3), strict=True)), "folder": str(folder)}
    environ = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "PYTHON"))},
        **{key: value.format(**filled) for key, value in server.environ.items()},
        "PATH": f"{bin_folder}:{os.environ.get('PATH', '')}",
    }
    program, *arguments = (part.format(**filled) for part in server.command)
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [bin_folder / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=environ,
            cwd=folder,
            start_new_session=True,
        )
    try:
        _wait_until_healthy(process, server.health.format(**filled), log)
        url, second_url = (f"http://127.0.0.1:{filled[name]}" for name in ("port", "second_port"))
        yield RunningServer(url, second_url, bin_folder / "python", environ)
    finally:
        _stop(process)


@asynccontextmanager
async def running_beside(server: RealServer, folder: Path) -> AsyncIterator[RunningServer]:
    """The same, while servers on this event loop answer."""
    manager = running(server, folder)
    found = await asyncio.to_thread(manager.__enter__)
    try:
        yield found
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


def _wait_until_healthy(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    pytest.fail(f"The server did not become healthy within {START_S} s (exit code {process.returncode}):\n{tail}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        # Workers of its own are in its session, which nobody else is in.
        os.killpg(process.pid, 9)
        process.wait()


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()
