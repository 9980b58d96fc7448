"""A server from PyPI in an environment of its own, kept between runs, started on loopback and ended by its id.

Everything has a bound: installing, starting, stopping, and a script in its environment.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

INSTALL_S = 1200
START_S = 300
STOP_S = 20
SCRIPT_S = 180


@dataclass(frozen=True, slots=True)
class RealServer:
    name: str
    requirements: tuple[str, ...]
    command: tuple[str, ...]
    """The first is a program of the environment; `{port}` and `{folder}` are filled in, as in `environ`."""
    health_path: str
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunningServer:
    url: str
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
    bin_folder = environment_of(server.name, server.requirements)
    port, second_port = _free_ports(2)
    filled = {"port": port, "second_port": second_port, "folder": str(folder)}
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
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(process, url + server.health_path, log)
        yield RunningServer(url, bin_folder / "python", environ)
    finally:
        _stop(process)


def environment_of(name: str, requirements: tuple[str, ...]) -> Path:
    """The folder of its programs; made once for these requirements and this Python."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("The environments of real servers are made with uv, which is not installed.")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(json.dumps([version, *requirements]).encode()).hexdigest()[:12]
    default = Path.home() / ".cache" / "adhere-integration"
    cache = Path(os.environ.get("ADHERE_INTEGRATION_CACHE") or default)
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{digest}"
    with (cache / f"{name}-{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            for command in (
                [uv, "venv", "--quiet", "--python", sys.executable, str(folder)],
                [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *requirements],
            ):
                subprocess.run(command, check=True, timeout=INSTALL_S, stdin=subprocess.DEVNULL)
            (folder / "ready").touch()
    return folder / "bin"


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
