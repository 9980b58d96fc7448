"""Processes that append as fast as they can until they are killed, and say of each body when it is acknowledged.

    python -m tests.collector.journal.append_under_load

Each line on stdin, `DIRECTORY SEED CURSOR...`, forks one such process (which saves its start-up time). Stdout carries
numbers of 8 bytes: the process's id with STARTED, then each acknowledged body's number, each in one unbuffered write,
which makes it the parent's to claim, and ENDED once the process is dead and has said all.
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count
from pathlib import Path
from random import Random

import structlog
from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from collector.errors import RetryableError
from collector.journal.metrics import JournalMetrics
from collector.journal.settings import JournalSettings
from collector.journal.writer import JournalWriter
from collector.telemetry.records import Signal

STARTED = 1 << 62
ENDED = 1 << 63

_SENDERS = 12
_NUMBER = 8


def make_body(number: int) -> bytes:
    """The same in every process: what is found can be compared with what was sent."""
    random = Random(number)
    size = random.choice((0, 10, 1000, 30_000))
    return number.to_bytes(_NUMBER, "little") + random.randbytes(size // 2) + bytes(size // 2)


def number_of(body: bytes) -> int:
    return int.from_bytes(body[:_NUMBER], "little")


async def _send(writer: JournalWriter, numbers: count[int]) -> None:
    for number in numbers:
        try:
            await writer.append(Signal.TRACES, make_body(number))
        except RetryableError:
            await asyncio.sleep(0.001)
        else:
            _say(number)


async def _main(directory: Path, seed: int, cursors: list[str]) -> None:
    settings = JournalSettings(directory, segment_bytes=1_000_000, max_bytes=200_000_000)
    writer = JournalWriter(
        settings, cursors=cursors, clock=SystemClock(), metrics=JournalMetrics(CollectorRegistry()), random=Random(seed)
    )
    await writer.start()
    numbers = count(seed * 1_000_000_000)
    async with asyncio.TaskGroup() as senders:
        for _ in range(_SENDERS):
            senders.create_task(_send(writer, numbers))


def _say(number: int) -> None:
    os.write(1, number.to_bytes(_NUMBER, "little"))


def _serve() -> None:
    for line in sys.stdin:
        directory, seed, *cursors = line.split()
        pid = os.fork()
        if pid == 0:
            asyncio.run(_main(Path(directory), int(seed), cursors))
        _say(STARTED | pid)
        os.waitpid(pid, 0)
        _say(ENDED)


if __name__ == "__main__":
    # Stdout is for numbers only.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    _serve()
