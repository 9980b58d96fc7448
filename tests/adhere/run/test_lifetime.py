from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from adhere.run.lifetime import Lifetime

WAITS = """
import asyncio, sys
from adhere.run.lifetime import Lifetime

async def main():
    lifetime = Lifetime()
    lifetime.start()
    print("up", flush=True)
    await lifetime.ended()
    print("draining", flush=True)
    if "slow" in sys.argv:
        await asyncio.sleep(60)
    lifetime.stop()

asyncio.run(main())
"""


@pytest.fixture
def waiting():
    """Starts a process that drains when it is told to; kills what is left of it."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, supervised: bool = False) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "ADHERE_SUPERVISED": "1" if supervised else ""},
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_asks_to_drain(waiting, number: signal.Signals) -> None:
    process = waiting()

    process.send_signal(number)

    assert process.wait(30) == 0
    assert process.stdout.read() == "draining\n"


def test_a_second_signal_ends_at_once(waiting) -> None:
    process = waiting("slow")
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "draining\n"

    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 1


def test_a_supervised_process_leaves_haste_to_its_supervisor(waiting) -> None:
    process = waiting("slow", supervised=True)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "draining\n"

    process.send_signal(signal.SIGTERM)

    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)


def test_a_supervised_process_drains_when_its_supervisor_is_gone(waiting) -> None:
    process = waiting(supervised=True)

    process.stdin.close()

    assert process.wait(30) == 0


def test_without_a_supervisor_standard_input_means_nothing(waiting) -> None:
    process = waiting()

    process.stdin.close()

    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)


async def test_signals_are_the_loops_own_again_after_the_end() -> None:
    lifetime = Lifetime()
    lifetime.start()
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(lifetime.ended(), 10)

    lifetime.stop()

    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
