"""A process that judges, to be killed: `python -m tests.support.judging_process FOLDER UNITS`.

Submits the same units at each start, as a replay of the journal does. Appends a line to `asked` when a judge is asked,
one to `answered` when it has answered, and one to `taken` for each verdict that the sink took, all before going on. It
ends when nothing waits any more.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from collector.clock import SystemClock
from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.store.waiting import totals
from evaluators.verdict import Unit, Verdict
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing
from tests.support.judging import judging, setup

CONCURRENCY = 4
_JUDGE_S = 0.02


class LineLog:
    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def append(self, line: str) -> None:
        os.write(self._file, f"{line}\n".encode())
        os.fsync(self._file)


class LoggedEvaluator(ScriptedEvaluator):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._begun, self._done = LineLog(folder / "asked"), LineLog(folder / "answered")

    async def evaluate(self, unit: Unit) -> Judgement:
        self._begun.append(unit.key)
        await asyncio.sleep(_JUDGE_S)
        self._done.append(unit.key)
        return passing(unit, 0)


class LoggedSink:
    def __init__(self, folder: Path) -> None:
        self._log = LineLog(folder / "taken")

    async def put(self, verdict: Verdict) -> None:
        self._log.append(f"{verdict.unit_key} {verdict.evaluator} {verdict.id}")


async def main(folder: Path, count: int) -> None:
    setups = (setup(LoggedEvaluator(folder)), setup(ScriptedEvaluator(name="immediate"), immediate=True))
    limits = PipelineLimits(max_concurrency=CONCURRENCY)
    async with judging(folder, *setups, clock=SystemClock(), sink=LoggedSink(folder), limits=limits) as found:
        sys.stdout.write("started\n")
        sys.stdout.flush()
        for n in range(count):
            await found.pipeline.submit(turn_unit(refund_conversation(verified=True, conversation_id=f"c{n}")))
        while await found.store.run(lambda connection: totals(connection).jobs):
            await asyncio.sleep(0.05)
        await found.pipeline.drain()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
