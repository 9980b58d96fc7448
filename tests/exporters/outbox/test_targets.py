"""Scores that come before what they belong to, and batches of which a part failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from random import Random

import pytest

from collector.errors import PermanentError, RetryableError, UnauthenticatedError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.exporter import Exporter
from exporters.metrics import ExportMetrics
from exporters.outbox import Outbox, OutboxRunner
from tests.exporters.outbox.conftest import OpenOutbox
from tests.exporters.outbox.test_delivery import stop
from tests.support.clock import ManualClock
from tests.support.scripted_exporter import ScriptedExporter
from tests.support.until import advance_until, until
from tests.support.verdicts import verdict

StartRunner = Callable[..., Awaitable[OutboxRunner]]


@pytest.fixture
async def start_runner(clock: ManualClock, metrics: ExportMetrics) -> AsyncIterator[StartRunner]:
    async with AsyncExitStack() as stack:

        async def started(outbox: Outbox, *exporters: Exporter) -> OutboxRunner:
            runner = OutboxRunner(exporters, outbox=outbox, clock=clock, random=Random(1), metrics=metrics)
            stack.push_async_callback(stop, runner, clock)
            await runner.start()
            return runner

        yield started


def failing(failures: dict[str, RetryableError | PermanentError]) -> Callable[[Sequence[Verdict]], None]:
    """Refuses the verdicts that are named, as long as they are; takes the others."""

    def answer(verdicts: Sequence[Verdict]) -> None:
        named = {item.id: failures[item.id] for item in verdicts if item.id in failures}
        if named:
            raise PartialExportError("Some.", failures=named)

    return answer


async def test_a_target_that_never_comes_ends_as_a_dead_letter_with_its_reason(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    for number in range(3):
        await outbox.put(verdict(f"v{number}"))
    exporter = ScriptedExporter("a", answer=failing({"v1": TargetUnknownError("No such span.", patience_s=300)}))
    await start_runner(outbox, exporter)
    await until(lambda: outbox.backlog("a").rows == 1)
    started_ns = clock.now_ns()

    await advance_until(clock, lambda: outbox.backlog("a").rows == 0, step_s=10)

    [letter] = await outbox.dead_letters()
    assert (letter.verdict_id, letter.reason, letter.error) == ("v1", "target_unknown", "No such span.")
    assert 300e9 <= clock.now_ns() - started_ns <= 400e9
    assert len(exporter.tries) > 3


async def test_a_target_that_comes_late_gets_its_score_and_holds_up_nobody(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    await outbox.put(verdict("v0"))
    failures: dict[str, RetryableError | PermanentError] = {"v0": TargetUnknownError("Not yet.", patience_s=300)}
    exporter = ScriptedExporter("a", answer=failing(failures))
    await start_runner(outbox, exporter)
    await until(lambda: len(exporter.tries) == 1)

    await outbox.put(verdict("v1"))
    await until(lambda: ["v1"] in exporter.tries)
    failures.clear()
    await advance_until(clock, lambda: outbox.backlog("a").rows == 0)

    assert exporter.tries[-1] == ["v0"]
    assert not await outbox.dead_letters()


@pytest.mark.parametrize("outage", [RetryableError("Away."), UnauthenticatedError("Key.")], ids=["away", "key"])
async def test_a_batch_that_an_outage_ended_leaves_the_destination_alone_for_a_while(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock, outage: RetryableError | PermanentError
):
    outbox = await open_outbox("a")
    for number in range(4):
        await outbox.put(verdict(f"v{number}"))
    failures = dict.fromkeys(("v2", "v3"), outage)
    exporter = ScriptedExporter("a", answer=failing(failures))
    await start_runner(outbox, exporter)
    await until(lambda: outbox.backlog("a").rows == 2 and clock.sleeper_count > 1)

    await outbox.put(verdict("v4"))
    during = list(exporter.tries)
    failures.clear()
    await advance_until(clock, lambda: outbox.backlog("a").rows == 0)

    assert during == [["v0", "v1", "v2", "v3"]]
    assert not await outbox.dead_letters()
