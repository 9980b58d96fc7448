"""An outbox in a process of its own, to be killed: puts verdicts and delivers them to a file, both without end.

    python -m tests.support.outbox_process FOLDER FIRST

Prints the id of each verdict once `put` has returned. Each delivered batch is a line in `FOLDER/delivered`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from evaluators.verdict import Verdict
from exporters.metrics import ExportMetrics
from exporters.outbox import Outbox, OutboxRunner
from tests.support.verdicts import verdict


class FileDestination:
    name = "file"

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        os.write(self._fd, (" ".join(item.id for item in verdicts) + "\n").encode())

    async def close(self) -> None:
        os.close(self._fd)


async def main(folder: Path, first: int) -> None:
    clock, metrics = SystemClock(), ExportMetrics(CollectorRegistry())
    outbox = Outbox(folder / "outbox.db", destinations=["file"], clock=clock, metrics=metrics)
    await outbox.start()
    runner = OutboxRunner(
        [FileDestination(folder / "delivered")], outbox=outbox, clock=clock, random=Random(1), metrics=metrics
    )
    await runner.start()
    for number in range(first, first + 100_000):
        await outbox.put(verdict(f"v{number}"))
        os.write(1, f"v{number}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
