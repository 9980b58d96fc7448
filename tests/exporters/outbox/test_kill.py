"""The outbox's process is killed at any instant; what `put` acknowledged reaches the destination all the same."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from random import Random

from exporters.metrics import ExportMetrics
from exporters.outbox import OutboxRunner
from tests.exporters.outbox.conftest import OpenOutbox
from tests.support.clock import ManualClock
from tests.support.outbox_process import FileDestination
from tests.support.until import until

_KILLS = 4
_PUTS = 150


async def run_and_kill(folder: Path, *, first: int, puts: int) -> list[str]:
    """The ids that the process said were put, before it was killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.outbox_process",
        str(folder),
        str(first),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    acknowledged = [(await process.stdout.readline()).decode().strip() for _ in range(puts)]
    process.kill()
    rest = (await process.stdout.read()).decode()
    await process.wait()
    return acknowledged + [line for line in rest.split("\n")[:-1] if line]


async def test_no_acknowledged_verdict_is_lost_to_kills(
    tmp_path: Path, open_outbox: OpenOutbox, clock: ManualClock, metrics: ExportMetrics
):
    random = Random(20)
    acknowledged: list[str] = []
    for round_ in range(_KILLS):
        acknowledged += await run_and_kill(tmp_path, first=round_ * 10_000, puts=random.randint(1, _PUTS))

    outbox = await open_outbox("file")
    runner = OutboxRunner(
        [FileDestination(tmp_path / "delivered")], outbox=outbox, clock=clock, random=random, metrics=metrics
    )
    await runner.start()
    await until(lambda: outbox.backlog("file").rows == 0)
    await runner.shutdown(5)

    delivered = Counter((tmp_path / "delivered").read_text().split())
    assert len(acknowledged) == len(set(acknowledged)) >= _KILLS
    assert set(acknowledged) <= set(delivered)
    # Only a batch that was on its way at a kill may come twice, under the same ids.
    assert sum(count > 1 for count in delivered.values()) <= _KILLS * 100
    assert max(delivered.values()) <= _KILLS + 1
