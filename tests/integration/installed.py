"""Software of others, fetched from its registry when a test first needs it and kept between runs.

From PyPI into an environment of its own, from Debian's packages without installing them, from Go modules by building
them. Tests of a tool that cannot be had here (no Go, no apt, no answer) are skipped with the reason. PyPI must answer:
without it nothing of this project could be tested.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

INSTALL_S = 1200


class NotToBeHadError(Exception):
    """A registry did not give it, or it could not be made of what it gave."""


def from_pypi(name: str, requirements: Sequence[str]) -> Path:
    """The folder of the programs of an environment with these requirements and this Python."""
    uv = _tool("uv", "The environments of real servers are made with uv")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"

    def make(folder: Path) -> None:
        _run([uv, "venv", "--quiet", "--python", sys.executable, folder])
        _run([uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python", *requirements])

    return _once(name, [version, *requirements], make) / "bin"


def from_debian(package: str, program: str) -> Path:
    """The program of this machine, else the one in Debian's package, which is unpacked and not installed."""
    found = shutil.which(program)
    if found is not None:
        return Path(found)
    apt_get = _tool("apt-get", f"{program} is not installed, and would come from Debian's package {package}")

    def make(folder: Path) -> None:
        folder.mkdir()
        try:
            _run([apt_get, "download", package], cwd=folder)
        except NotToBeHadError:
            # On a new machine apt has no lists yet, and only root may fetch them.
            if os.geteuid() != 0:
                raise
            _run([apt_get, "update"])
            _run([apt_get, "download", package], cwd=folder)
        for file in folder.glob("*.deb"):
            _run(["dpkg", "-x", file, folder])
            file.unlink()

    with _skipped_without(program):
        return _once(package, [package], make) / "usr" / "bin" / program


def from_go(name: str, module: str) -> Path:
    """A program built from `module@version`."""
    go = _tool("go", f"{name} is built with Go")
    with _skipped_without(name):
        folder = _once(name, [module], lambda folder: _run([go, "install", module], GOBIN=str(folder)))
    return folder / module.partition("@")[0].rpartition("/")[2]


def collector(manifest: Path) -> Path:
    """The OpenTelemetry Collector with the parts that a manifest of its builder names."""
    builder = from_go("ocb", "go.opentelemetry.io/collector/cmd/builder@v0.165.0")

    def make(folder: Path) -> None:
        _run([builder, "--config", manifest, f"--output-path={folder}"], cwd=manifest.parent)

    with _skipped_without("otelcol"):
        return _once("otelcol", [manifest.read_text()], make) / "otelcol"


def _once(name: str, key: Sequence[str], make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills; made once for this key, by whoever comes first."""
    digest = hashlib.sha256(json.dumps(list(key)).encode()).hexdigest()[:12]
    default = Path.home() / ".cache" / "adhere-integration"
    cache = Path(os.environ.get("ADHERE_INTEGRATION_CACHE") or default)
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{digest}"
    with (cache / f"{name}-{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            (folder / "ready").touch()
    return folder


def _run(command: Sequence[str | Path], *, cwd: Path | None = None, **environ: str) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALL_S,
        check=False,
    )
    if done.returncode != 0:
        raise NotToBeHadError(f"{command[0]} {command[1]} ended with {done.returncode}: {done.stdout[-2000:].strip()}")


@contextmanager
def _skipped_without(name: str) -> Iterator[None]:
    try:
        yield
    except NotToBeHadError as err:
        pytest.skip(f"{name} could not be fetched: {err}")


def _tool(program: str, need: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{need}; {program} is not there.")
    return found
