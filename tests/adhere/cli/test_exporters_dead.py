"""`adhere exporters dead` and `redeliver`, on the data folder of a stopped Adhere and beside a running outbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest
from prometheus_client import CollectorRegistry

from adhere.cli.dead_tables import age_text
from collector.errors import PermanentError
from exporters.metrics import ExportMetrics
from exporters.outbox import Outbox, OutboxRunner
from tests.support.clock import ManualClock
from tests.support.command_line import CommandLine
from tests.support.running_adhere import write_config
from tests.support.scripted_exporter import ScriptedExporter
from tests.support.until import advance_until, until
from tests.support.verdicts import verdict


def refuse(_: object) -> None:
    raise PermanentError("The key of the customer is out of range.")


def take(_: object) -> None:
    pass


@asynccontextmanager
async def running(folder: Path, clock: ManualClock, *exporters: ScriptedExporter) -> AsyncIterator[Outbox]:
    """The outbox of the data folder with its deliveries, as `adhere run` has them."""
    metrics = ExportMetrics(CollectorRegistry())
    (folder / "data").mkdir(exist_ok=True)
    outbox = Outbox(
        folder / "data" / "outbox.db", destinations=[one.name for one in exporters], clock=clock, metrics=metrics
    )
    await outbox.start()
    runner = OutboxRunner(exporters, outbox=outbox, clock=clock, random=Random(1), metrics=metrics)
    await runner.start()
    try:
        yield outbox
    finally:
        await runner.shutdown(1.0)
        await outbox.shutdown(1.0)


async def given_up(outbox: Outbox, *ids: str, destinations: int = 1) -> None:
    for one in ids:
        await outbox.put(verdict(one))
    while len(await outbox.dead_letters()) < len(ids) * destinations:
        await until(lambda: not any(outbox.backlog(name).rows for name in outbox.destinations))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path, exporters=["jsonl", "otlp"])


async def test_a_running_outbox_sends_them_again_without_a_restart(
    adhere: CommandLine, tmp_path: Path, config: Path, clock: ManualClock
) -> None:
    exporter = ScriptedExporter("jsonl", answer=refuse)
    async with running(tmp_path, clock, exporter) as outbox:
        await given_up(outbox, "v1", "v2")
        exporter.answer = take

        listed = await adhere.beside("exporters", "dead", "-c", config)
        shown = await adhere.beside("exporters", "redeliver", "jsonl", "-c", config)
        await advance_until(clock, lambda: len(exporter.delivered) == 2, step_s=10)
        await until(lambda: outbox.backlog("jsonl").rows == 0)
        left = await outbox.dead_letters()

    rows = [line.replace("│", " ").split()[:4] for line in listed.out.splitlines() if "rejected" in line]
    assert rows == [["jsonl", "v2", "rejected", "1"], ["jsonl", "v1", "rejected", "1"]]
    assert "customer" not in listed.out + shown.out
    assert shown.out == "jsonl: 2 back in the queue\n"
    assert sorted(exporter.delivered_ids) == ["v1", "v2"]
    assert left == []
    assert outbox.backlog("jsonl").bytes == 0


async def test_a_stopped_one_sends_them_after_its_start(
    adhere: CommandLine, tmp_path: Path, config: Path, clock: ManualClock
) -> None:
    exporters = [ScriptedExporter(name, answer=refuse) for name in ("otlp/events", "otlp/spans", "gone")]
    async with running(tmp_path, clock, *exporters) as outbox:
        await given_up(outbox, "v1", destinations=3)

    shown = await adhere.beside("exporters", "redeliver", "--all", "-c", config)
    listed = await adhere.beside("exporters", "dead", "-c", config)
    again = [ScriptedExporter(name) for name in ("otlp/events", "otlp/spans")]
    async with running(tmp_path, clock, *again):
        await until(lambda: all(one.delivered_ids == ["v1"] for one in again))

    assert shown.out == "jsonl: 0 back in the queue\notlp: 2 back in the queue\n"
    assert "gone" in listed.out
    assert "otlp" not in listed.out


async def test_the_newest_are_shown_and_the_rest_is_told(
    adhere: CommandLine, tmp_path: Path, config: Path, clock: ManualClock
) -> None:
    async with running(tmp_path, clock, ScriptedExporter("jsonl", answer=refuse)) as outbox:
        await given_up(outbox, "v1", "v2")

    shown = await adhere.beside("exporters", "dead", "jsonl", "--limit", "1", "-c", config)
    other = await adhere.beside("exporters", "dead", "otlp", "-c", config)

    assert ("v1" in shown.out, "v2" in shown.out) == (False, True)
    assert "more than these 1" in shown.out
    assert other.out == "There are no dead letters.\n"


def test_without_an_outbox_there_are_none_and_none_is_made(adhere: CommandLine, tmp_path: Path, config: Path) -> None:
    listed = adhere("exporters", "dead", "-c", config)
    shown = adhere("exporters", "redeliver", "jsonl", "-c", config)

    assert listed.out == "There are no dead letters.\n"
    assert shown.out == "jsonl: 0 back in the queue\n"
    assert not (tmp_path / "data" / "outbox.db").exists()


def test_a_file_that_is_no_outbox_is_named_and_left_as_it_is(adhere: CommandLine, tmp_path: Path, config: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "outbox.db"
    file.write_bytes(b"no database at all" * 100)

    shown = [adhere("exporters", *command, "-c", config) for command in (["dead"], ["redeliver", "jsonl"])]

    assert [one.code for one in shown] == [1, 1]
    assert all("cannot be opened" in one.err and one.err.count("\n") == 1 for one in shown)
    assert file.read_bytes() == b"no database at all" * 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name one exporter, or give --all."),
        (["jsonl", "--all"], "Name one exporter, or give --all."),
        (["nobody"], "no exporter named 'nobody'; it has: jsonl, otlp"),
    ],
    ids=["none", "both", "unknown"],
)
def test_arguments_that_cannot_work_are_named(
    adhere: CommandLine, config: Path, arguments: list[str], message: str
) -> None:
    shown = adhere("exporters", "redeliver", *arguments, "-c", config)

    assert shown.code == 2
    assert message in shown.err


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (7_199, "1 h"), (200_000, "2 d")]
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert age_text(seconds) == text
