"""The loop over the real journal: reads, commits behind the state, hands over, waits out trouble, stops when told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from collector.clock import SystemClock
from collector.journal.protocol import Position
from collector.live.metrics import LiveMetrics
from collector.live.readiness import AdaptiveWait, ReadinessConfig
from collector.live.ready import Ready
from collector.live.settings import LiveConfig
from collector.live.standard import StandardReconstruction
from collector.live.tail import JournalTail
from collector.live.tracker import ConversationTracker
from tests.support.agent_telemetry import AgentTelemetry, trace_body
from tests.support.journal_records import RecordedJournal, RecordedReader

QUICK = LiveConfig(
    readiness=ReadinessConfig(
        quiet=AdaptiveWait(default_s=0.05, min_s=0.01, max_s=1),
        conversation_idle=AdaptiveWait(default_s=0.1, min_s=0.01, max_s=1),
    )
)


class Judging:
    """Takes units, after as many refusals as it is told."""

    def __init__(self, *, refusals: int = 0) -> None:
        self.taken: list[Ready] = []
        self.refusals = refusals
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    async def __call__(self, unit: Ready) -> None:
        self.asked.set()
        await self.gate.wait()
        if self.refusals:
            self.refusals -= 1
            raise ConnectionError
        self.taken.append(unit)


class Running:
    def __init__(self, folder: Path, journal: RecordedJournal, judging: Judging, *, committed: Position | None) -> None:
        self.registry = CollectorRegistry()
        metrics = LiveMetrics(self.registry)
        self.reader = RecordedReader(journal, committed=committed)
        self.tracker = ConversationTracker(
            folder / "live.db",
            reconstruction=StandardReconstruction(),
            clock=SystemClock(),
            metrics=metrics,
            config=QUICK,
        )
        self.tail = JournalTail(self.reader, self.tracker, deliver=judging, clock=SystemClock(), metrics=metrics)


@asynccontextmanager
async def running(
    folder: Path, journal: RecordedJournal, judging: Judging, *, committed: Position | None = None
) -> AsyncIterator[Running]:
    made = Running(folder, journal, judging, committed=committed)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made.tail.run())
        await asyncio.sleep(0)
        try:
            yield made
        finally:
            assert await made.tail.shutdown(10)
    made.tracker.close()


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def add(journal: RecordedJournal, agent: AgentTelemetry, user: str) -> None:
    journal.append(trace_body(agent.turn(user)), received_ns=SystemClock().now_ns())


async def test_what_is_received_is_handed_over_and_the_cursor_follows(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging()
    add(journal, AgentTelemetry(), "order 1")

    async with running(tmp_path, journal, judging) as made:
        await until(lambda: len(judging.taken) == 2)

        assert made.reader.committed == journal.records[-1].next_position
    assert [unit.key.split(":")[0] for unit in judging.taken] == ["turn", "conversation"]


async def test_a_slow_judging_side_does_not_hold_up_the_reading(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging()
    judging.gate.clear()
    add(journal, AgentTelemetry("c0", name="c0"), "order 1")

    async with running(tmp_path, journal, judging) as made:
        await asyncio.sleep(0.2)
        for number in range(1, 6):
            add(journal, AgentTelemetry(f"c{number}", name=f"c{number}"), "order 1")
        await until(lambda: made.reader.committed == journal.records[-1].next_position)
        assert judging.taken == []
        judging.gate.set()
        await until(lambda: len(judging.taken) == 12)


async def test_a_unit_that_is_refused_is_offered_again(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging(refusals=1)
    add(journal, AgentTelemetry(), "order 1")

    async with running(tmp_path, journal, judging) as made:
        await until(lambda: judging.taken)

        assert made.registry.get_sample_value("adhere_live_failures_total", {"where": "deliver"}) == 1


async def test_a_stop_in_the_middle_of_a_hand_over_hands_over_again_after_the_start(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging(refusals=1000)
    add(journal, AgentTelemetry(), "order 1")
    async with running(tmp_path, journal, judging) as made:
        await until(lambda: judging.refusals < 1000)
        committed = made.reader.committed

    judging.refusals = 0
    async with running(tmp_path, journal, judging, committed=committed):
        await until(lambda: len(judging.taken) == 2)

    assert [unit.revision for unit in judging.taken] == [0, 0]


async def test_a_file_that_turns_out_unsound_is_replaced_and_reading_goes_on(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging()

    async with running(tmp_path, journal, judging) as made:
        spoil(made)
        add(journal, AgentTelemetry(), "order 1")
        await until(lambda: made.registry.get_sample_value("adhere_live_state_set_aside_total") == 1)
        add(journal, AgentTelemetry("next", name="next"), "order 2")
        await until(lambda: judging.taken)

    # Both loops meet the unsound file; the second must not take the new one for it.
    assert made.registry.get_sample_value("adhere_live_state_set_aside_total") == 1


async def test_shutdown_is_safe_before_a_start_and_twice(tmp_path: Path):
    made = Running(tmp_path, RecordedJournal(), Judging(), committed=None)

    assert await made.tail.shutdown(1)
    await made.tail.run()
    assert await made.tail.shutdown(1)
    made.tracker.close()
    made.tracker.close()


async def test_a_shutdown_that_takes_too_long_says_so(tmp_path: Path):
    journal, judging = RecordedJournal(), Judging()
    judging.gate.clear()
    add(journal, AgentTelemetry(), "order 1")
    made = Running(tmp_path, journal, judging, committed=None)
    task = asyncio.ensure_future(made.tail.run())
    await judging.asked.wait()

    stopped = await made.tail.shutdown(0.05)

    assert stopped is False
    judging.gate.set()
    await task
    made.tracker.close()


def spoil(made: Running) -> None:
    """Every page but the first becomes nonsense under the open connection."""
    database = made.tracker._state.database
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path = Path(database.execute("PRAGMA database_list").fetchone()[2])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    database.execute("PRAGMA shrink_memory")
