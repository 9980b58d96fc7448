from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import Verdict
from exporters.errors import ExporterConfigError, PartialExportError
from exporters.exporter import Exporter
from exporters.metrics import ExportMetrics
from exporters.outbox import ClaimedVerdict, DeliveryPolicy, Outbox, OutboxRunner
from tests.exporters.outbox.conftest import OpenOutbox
from tests.support.clock import ManualClock
from tests.support.scripted_exporter import ScriptedExporter
from tests.support.until import advance_until, until
from tests.support.verdicts import verdict

OUTCOMES = ("adhere_export_delivered", "adhere_export_dead_lettered")

StartRunner = Callable[..., Awaitable[OutboxRunner]]


@pytest.fixture
async def start_runner(clock: ManualClock, metrics: ExportMetrics) -> AsyncIterator[StartRunner]:
    async with AsyncExitStack() as stack:

        async def started(outbox: Outbox, *exporters: Exporter, policy: DeliveryPolicy | None = None) -> OutboxRunner:
            runner = OutboxRunner(
                exporters, outbox=outbox, clock=clock, random=Random(1), metrics=metrics, policy=policy
            )
            stack.push_async_callback(stop, runner, clock)
            await runner.start()
            return runner

        yield started


async def stop(runner: OutboxRunner, clock: ManualClock) -> None:
    stopping = asyncio.ensure_future(runner.shutdown(1.0))
    await advance_until(clock, stopping.done, step_s=1)
    await stopping


def refuse(*poison: str, error: type[Exception] = PermanentError) -> Callable[[Sequence[Verdict]], None]:
    def answer(verdicts: Sequence[Verdict]) -> None:
        if any(item.id in poison for item in verdicts):
            raise error("The value is out of range.")

    return answer


def count(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(f"adhere_export_{name}_total", labels)


def outcomes(registry: CollectorRegistry) -> float:
    """Verdicts with a final outcome at the destination `a`."""
    families = (family for family in registry.collect() if family.name in OUTCOMES)
    return sum(found.value for family in families for found in family.samples if found.name.endswith("_total"))


async def until_settled(clock: ManualClock) -> None:
    for _ in range(5):
        await asyncio.sleep(0.002)


async def test_verdicts_are_delivered_in_batches_and_counted(
    open_outbox: OpenOutbox, start_runner: StartRunner, registry: CollectorRegistry
):
    outbox = await open_outbox("a")
    for number in range(7):
        await outbox.put(verdict(f"v{number}"))
    exporter = ScriptedExporter("a")

    await start_runner(outbox, exporter, policy=DeliveryPolicy(batch_rows=3))
    await until(lambda: count(registry, "delivered", exporter="a") == 7)

    assert exporter.tries == [["v0", "v1", "v2"], ["v3", "v4", "v5"], ["v6"]]
    assert outbox.backlog("a").rows == 0


async def test_a_verdict_put_later_is_delivered_without_waiting(open_outbox: OpenOutbox, start_runner: StartRunner):
    outbox = await open_outbox("a")
    exporter = ScriptedExporter("a")
    await start_runner(outbox, exporter)

    await outbox.put(verdict("v1"))
    await until(lambda: exporter.delivered_ids == ["v1"])
    await outbox.put(verdict("v2"))

    await until(lambda: exporter.delivered_ids == ["v1", "v2"])


async def test_a_hanging_destination_delays_no_other(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("hangs", "works")
    hanging, working = ScriptedExporter("hangs"), ScriptedExporter("works")
    hanging.hangs = True
    await start_runner(outbox, hanging, working)

    for number in range(50):
        await outbox.put(verdict(f"v{number}"))
    await hanging.hanging.wait()
    await until(lambda: len(working.delivered) == 50)

    assert hanging.delivered == []
    assert outbox.backlog("hangs").rows == 50


async def test_ten_minutes_of_silence_at_one_delay_no_other_and_lose_nothing(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("hangs", "works")
    hanging, working = ScriptedExporter("hangs"), ScriptedExporter("works")
    hanging.hangs = True
    await start_runner(outbox, hanging, working)
    ids = [f"v{number}" for number in range(60)]

    for number, one in enumerate(ids):
        await outbox.put(verdict(one))
        # No time passes in between: nothing waits for anything.
        await until(lambda number=number: len(working.delivered) == number + 1, every_s=0.001)
        await clock.advance(10)
    before = list(hanging.delivered_ids)
    hanging.hangs = False
    await advance_until(clock, lambda: len(hanging.delivered) == len(ids), step_s=30)

    assert working.delivered_ids == ids
    assert before == []
    assert sorted(hanging.delivered_ids) == sorted(ids)


async def test_a_try_ends_at_its_deadline_and_is_made_again(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    await outbox.put(verdict("v1"))
    exporter = ScriptedExporter("a")
    exporter.hangs = True
    await start_runner(outbox, exporter, policy=DeliveryPolicy(timeout_s=30, max_backoff_s=1))
    await exporter.hanging.wait()

    exporter.hangs = False
    await advance_until(clock, lambda: exporter.delivered_ids == ["v1"], step_s=31)

    assert exporter.tries == [["v1"], ["v1"]]


async def test_a_refused_verdict_is_isolated_and_its_neighbours_are_delivered(
    open_outbox: OpenOutbox, start_runner: StartRunner, registry: CollectorRegistry
):
    outbox = await open_outbox("a")
    for number in range(10):
        await outbox.put(verdict(f"v{number}"))
    exporter = ScriptedExporter("a", answer=refuse("v3", "v8"))

    await start_runner(outbox, exporter)
    await until(lambda: outcomes(registry) == 10)

    assert exporter.delivered_ids == ["v0", "v1", "v2", "v4", "v5", "v6", "v7", "v9"]
    assert {(letter.verdict_id, letter.reason, letter.error) for letter in await outbox.dead_letters()} == {
        ("v3", "rejected", "The value is out of range."),
        ("v8", "rejected", "The value is out of range."),
    }
    assert count(registry, "delivered", exporter="a") == 8
    assert count(registry, "dead_lettered", exporter="a", reason="rejected") == 2


async def test_a_verdict_that_always_fails_retryably_ends_alone_and_the_others_get_through(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    for number in range(8):
        await outbox.put(verdict(f"v{number}"))
    exporter = ScriptedExporter("a", answer=refuse("v5", error=RetryableError))

    await start_runner(outbox, exporter, policy=DeliveryPolicy(batch_rows=8, max_tries=6, max_backoff_s=5))
    await advance_until(clock, lambda: outbox.backlog("a").rows == 0, step_s=5)

    assert sorted(exporter.delivered_ids) == ["v0", "v1", "v2", "v3", "v4", "v6", "v7"]
    assert [(letter.verdict_id, letter.reason, letter.tries) for letter in await outbox.dead_letters()] == [
        ("v5", "max_tries", 6)
    ]


async def test_an_exporter_that_breaks_on_one_verdict_loses_only_that_one(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock, registry: CollectorRegistry
):
    outbox = await open_outbox("a")
    for number in range(6):
        await outbox.put(verdict(f"v{number}"))
    exporter = ScriptedExporter("a", answer=refuse("v2", error=ZeroDivisionError))

    with capture_logs() as logs:
        await start_runner(outbox, exporter)
        await advance_until(clock, lambda: outcomes(registry) == 6, step_s=60)

    assert sorted(exporter.delivered_ids) == ["v0", "v1", "v3", "v4", "v5"]
    letters = await outbox.dead_letters()
    assert [(letter.verdict_id, letter.reason, letter.error, letter.tries) for letter in letters] == [
        ("v2", "crashed", "ZeroDivisionError", 3)
    ]
    assert sum(tried == ["v2"] for tried in exporter.tries) == 3
    assert {entry["event"] for entry in logs} == {"exporter crashed", "verdict dead-lettered"}
    assert "out of range" not in str(logs)


async def test_after_an_outage_everything_drains_the_oldest_included(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    down = True

    def answer(_: Sequence[Verdict]) -> None:
        if down:
            raise RetryableError("The server is away.")

    exporter = ScriptedExporter("a", answer=answer)
    await start_runner(outbox, exporter)
    put = 0
    for _ in range(30):
        for _ in range(20):
            await outbox.put(verdict(f"v{put}"))
            put += 1
        await clock.advance(60)
        await until_settled(clock)
    tries_while_down = len(exporter.tries)

    down = False
    await advance_until(clock, lambda: outbox.backlog("a").rows == 0, step_s=60)

    assert set(exporter.delivered_ids) == {f"v{number}" for number in range(put)}
    assert len(exporter.delivered) == put
    assert await outbox.dead_letters() == []
    assert tries_while_down <= 70
    assert len(exporter.tries) - tries_while_down <= 60


async def test_a_destination_that_names_a_time_is_left_alone_until_then(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    await outbox.put(verdict("v1"))
    answers = [RetryableError("Later.", retry_after_s=40)]

    def answer(_: Sequence[Verdict]) -> None:
        if answers:
            raise answers.pop()

    exporter = ScriptedExporter("a", answer=answer)
    await start_runner(outbox, exporter)
    await until(lambda: len(exporter.tries) == 1 and clock.sleeper_count > 0)

    await clock.advance(39)
    await until_settled(clock)
    early = len(exporter.tries)
    await advance_until(clock, lambda: exporter.delivered_ids == ["v1"], step_s=1)

    assert early == 1


async def test_a_verdict_over_its_age_is_given_up_at_its_next_failure(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    await outbox.put(verdict("v1"))
    clock.jump(1000)
    await outbox.put(verdict("v2"))
    exporter = ScriptedExporter("a", answer=refuse("v1", "v2", error=RetryableError))

    await start_runner(outbox, exporter, policy=DeliveryPolicy(max_age_s=900))
    await until(lambda: outbox.backlog("a").rows == 1)

    assert [(letter.verdict_id, letter.reason) for letter in await outbox.dead_letters()] == [("v1", "max_age")]


async def test_a_partial_failure_concerns_only_the_verdicts_that_it_names(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("a")
    for number in range(4):
        await outbox.put(verdict(f"v{number}"))
    answers: list[Exception] = [
        PartialExportError(
            "Two of four.",
            failures={"v1": RetryableError("The span is not there yet."), "v2": PermanentError("Bad value.")},
        )
    ]

    def answer(_: Sequence[Verdict]) -> None:
        if answers:
            raise answers.pop()

    exporter = ScriptedExporter("a", answer=answer)
    await start_runner(outbox, exporter)
    await advance_until(clock, lambda: outbox.backlog("a").rows == 0, step_s=60)

    assert exporter.tries == [["v0", "v1", "v2", "v3"], ["v1"]]
    assert [letter.verdict_id for letter in await outbox.dead_letters()] == ["v2"]


async def test_shutdown_delivers_what_waits_and_closes(open_outbox: OpenOutbox, start_runner: StartRunner):
    outbox = await open_outbox("a")
    exporter = ScriptedExporter("a")
    runner = await start_runner(outbox, exporter, policy=DeliveryPolicy(batch_rows=2))
    for number in range(9):
        await outbox.put(verdict(f"v{number}"))

    await runner.shutdown(5)
    await runner.shutdown(5)

    assert len(exporter.delivered) == 9
    assert exporter.closed == 1


async def test_shutdown_leaves_what_hangs_to_the_next_start(
    open_outbox: OpenOutbox, start_runner: StartRunner, clock: ManualClock
):
    outbox = await open_outbox("hangs", "works")
    hanging, working = ScriptedExporter("hangs"), ScriptedExporter("works")
    hanging.hangs = True
    runner = await start_runner(outbox, hanging, working)
    await outbox.put(verdict("v1"))
    await hanging.hanging.wait()

    stopping = asyncio.ensure_future(runner.shutdown(10))
    await advance_until(clock, stopping.done, step_s=1)

    assert working.delivered_ids == ["v1"]
    assert outbox.backlog("hangs").rows == 1
    assert hanging.closed == working.closed == 1


async def test_shutdown_without_start_closes_the_exporters(
    open_outbox: OpenOutbox, clock: ManualClock, metrics: ExportMetrics
):
    exporter = ScriptedExporter("a")
    runner = OutboxRunner([exporter], outbox=await open_outbox("a"), clock=clock, random=Random(1), metrics=metrics)

    await runner.shutdown(1)
    await runner.start()

    assert exporter.closed == 1


async def test_an_exporter_that_the_outbox_does_not_know_is_refused(
    open_outbox: OpenOutbox, clock: ManualClock, metrics: ExportMetrics
):
    outbox = await open_outbox("a")

    with pytest.raises(ExporterConfigError, match="'b'"):
        OutboxRunner([ScriptedExporter("b")], outbox=outbox, clock=clock, random=Random(1), metrics=metrics)


class BreaksOnClose(ScriptedExporter):
    async def close(self) -> None:
        raise ZeroDivisionError


class BreaksOnce(Outbox):
    """An outbox with a defect that shows once."""

    is_broken = True

    async def claim(self, destination: str, **bounds: Any) -> Sequence[ClaimedVerdict]:
        if self.is_broken:
            self.is_broken = False
            raise ZeroDivisionError
        return await super().claim(destination, **bounds)


async def test_an_exporter_that_does_not_close_keeps_no_other_open(
    open_outbox: OpenOutbox, start_runner: StartRunner, registry: CollectorRegistry
):
    broken, good = BreaksOnClose("broken"), ScriptedExporter("good")
    runner = await start_runner(await open_outbox("broken", "good"), broken, good)

    await runner.shutdown(5)

    assert good.closed == 1
    assert count(registry, "crashes", exporter="broken") == 1


async def test_a_delivery_that_crashes_starts_again(
    tmp_path: Path, start_runner: StartRunner, clock: ManualClock, metrics: ExportMetrics, registry: CollectorRegistry
):
    outbox = BreaksOnce(tmp_path / "outbox.db", destinations=["a"], clock=clock, metrics=metrics)
    await outbox.start()
    await outbox.put(verdict("v1"))
    exporter = ScriptedExporter("a")

    runner = await start_runner(outbox, exporter)
    await advance_until(clock, lambda: exporter.delivered_ids == ["v1"])
    await runner.shutdown(5)
    await outbox.shutdown(5)

    assert count(registry, "crashes", exporter="a") == 1
