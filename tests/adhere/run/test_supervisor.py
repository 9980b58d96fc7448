from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from adhere.run.supervisor import RestartPolicy, Supervisor
from tests.support.until import until

SLEEPS = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
pathlib.Path(sys.argv[1]).touch()
time.sleep(60)
"""
STUBBORN = SLEEPS.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN")


def python(code: str, up: Path | None = None) -> list[str]:
    """A child that touches the file `up` once its signal handler stands."""
    return [sys.executable, "-c", code, str(up)]


@pytest.fixture
async def started():
    """Starts a supervisor in a task of its own; whatever is left of it is ended after the test."""
    running: list[tuple[Supervisor, asyncio.Task[int]]] = []

    def start(commands: dict[str, list[str]], *, grace_s: float = 10.0) -> tuple[Supervisor, asyncio.Task[int]]:
        supervisor = Supervisor(commands, grace_s=grace_s, policy=RestartPolicy(first_s=0.01), say=lambda _: None)
        running.append((supervisor, asyncio.ensure_future(supervisor.run())))
        return running[-1]

    yield start
    for supervisor, task in running:
        supervisor.stop()
        supervisor.stop()
        await task


async def test_a_stop_drains_every_child_and_exits_0(started, tmp_path: Path) -> None:
    supervisor, task = started({"1": python(SLEEPS, tmp_path / "1"), "2": python(SLEEPS, tmp_path / "2")})
    await until(lambda: (tmp_path / "1").exists() and (tmp_path / "2").exists())

    supervisor.stop()

    assert await task == 0
    assert [process.returncode for process in supervisor.processes.values()] == [0, 0]


async def test_a_fallen_child_starts_again_and_its_neighbour_is_not_touched(started, tmp_path: Path) -> None:
    supervisor, _ = started({"falls": python(SLEEPS, tmp_path / "1"), "stays": python(SLEEPS, tmp_path / "2")})
    await until(lambda: len(supervisor.processes) == 2)
    fallen, neighbour = supervisor.processes["falls"].pid, supervisor.processes["stays"].pid

    os.kill(fallen, signal.SIGKILL)

    await until(lambda: supervisor.processes["falls"].pid != fallen)
    assert supervisor.processes["stays"].pid == neighbour
    assert supervisor.processes["stays"].returncode is None


async def test_an_unfit_child_ends_everything_with_its_code(started, tmp_path: Path) -> None:
    _, task = started({"unfit": python("raise SystemExit(2)"), "other": python(SLEEPS, tmp_path / "1")})

    assert await asyncio.wait_for(task, 10) == 2


async def test_a_child_that_ignores_sigterm_is_killed_after_the_grace_period(started, tmp_path: Path) -> None:
    supervisor, task = started({"stubborn": python(STUBBORN, tmp_path / "1")}, grace_s=0.2)
    await until((tmp_path / "1").exists)

    supervisor.stop()

    assert await asyncio.wait_for(task, 10) == 1
    assert supervisor.processes["stubborn"].returncode == -signal.SIGKILL


async def test_a_second_stop_kills_at_once(started, tmp_path: Path) -> None:
    supervisor, task = started({"stubborn": python(STUBBORN, tmp_path / "1")}, grace_s=60)
    await until((tmp_path / "1").exists)
    supervisor.stop()

    supervisor.stop()

    await asyncio.wait_for(task, 10)


@pytest.mark.parametrize(("failures", "delay_s"), [(0, 1.0), (1, 2.0), (4, 16.0), (5, 30.0), (1000, 30.0)])
def test_restart_delays_double_up_to_a_bound(failures: int, delay_s: float) -> None:
    assert RestartPolicy().delay_s(failures) == delay_s
