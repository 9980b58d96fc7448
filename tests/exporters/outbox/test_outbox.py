from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from exporters.errors import ExporterConfigError, OutboxUnavailableError, OutboxVersionError
from exporters.metrics import ExportMetrics
from exporters.outbox import ClaimedVerdict, DeadLetterReason, Outbox, OutboxLimits
from tests.exporters.outbox.conftest import OpenOutbox
from tests.support.clock import ManualClock
from tests.support.verdicts import REFUND_FAILED, verdict


async def claim(outbox: Outbox, destination: str = "a", *, max_rows: int = 100) -> Sequence[ClaimedVerdict]:
    return await outbox.claim(destination, max_rows=max_rows, max_bytes=1 << 20, max_wait_s=600)


def ids(claimed: Sequence[ClaimedVerdict]) -> list[str]:
    return [item.verdict.id for item in claimed]


async def test_a_verdict_comes_back_as_it_was_put(open_outbox: OpenOutbox):
    outbox = await open_outbox()

    await outbox.put(REFUND_FAILED)

    assert [item.verdict for item in await claim(outbox)] == [REFUND_FAILED]


async def test_a_known_id_is_put_once(open_outbox: OpenOutbox, registry: CollectorRegistry):
    outbox = await open_outbox()

    await outbox.put(verdict("v1"))
    await outbox.put(verdict("v1", reason="other words"))

    assert [item.verdict.reason for item in await claim(outbox)] == [REFUND_FAILED.reason]
    assert registry.get_sample_value("adhere_outbox_accepted_total") == 1
    assert registry.get_sample_value("adhere_outbox_duplicates_total") == 1


async def test_a_known_id_is_known_after_delivery_and_restart(open_outbox: OpenOutbox):
    outbox = await open_outbox()
    await outbox.put(verdict("v1"))
    await outbox.delivered("a", await claim(outbox))
    await outbox.shutdown(1)
    outbox = await open_outbox()

    await outbox.put(verdict("v1"))

    assert await claim(outbox) == []


async def test_a_superseding_verdict_is_another_one(open_outbox: OpenOutbox):
    outbox = await open_outbox()

    await outbox.put(verdict("v1"))
    await outbox.put(verdict("v2", revision=1, supersedes="v1"))

    assert ids(await claim(outbox)) == ["v1", "v2"]


async def test_every_destination_has_its_own_state(open_outbox: OpenOutbox):
    outbox = await open_outbox("a", "b")
    await outbox.put(verdict("v1"))

    await outbox.delivered("a", await claim(outbox, "a"))

    assert await claim(outbox, "a") == []
    assert ids(await claim(outbox, "b")) == ["v1"]


async def test_what_was_claimed_but_not_noted_is_claimed_again_after_a_restart(open_outbox: OpenOutbox):
    outbox = await open_outbox()
    await outbox.put(verdict("v1"))
    await claim(outbox)
    await outbox.shutdown(1)

    outbox = await open_outbox()

    assert ids(await claim(outbox)) == ["v1"]


async def test_concurrent_puts_are_each_answered(open_outbox: OpenOutbox, registry: CollectorRegistry):
    outbox = await open_outbox()

    await asyncio.gather(*(outbox.put(verdict(f"v{number % 600}")) for number in range(800)))

    assert outbox.backlog("a").rows == 600
    assert registry.get_sample_value("adhere_outbox_accepted_total") == 600
    assert registry.get_sample_value("adhere_outbox_duplicates_total") == 200


async def test_a_cancelled_put_leaves_the_others_alone(open_outbox: OpenOutbox):
    outbox = await open_outbox()
    puts = [asyncio.ensure_future(outbox.put(verdict(f"v{number}"))) for number in range(5)]
    await asyncio.sleep(0)

    puts[0].cancel()
    results = await asyncio.gather(*puts, return_exceptions=True)

    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [None] * 4
    assert set(ids(await claim(outbox))) >= {"v1", "v2", "v3", "v4"}


async def test_a_postponed_verdict_is_due_at_its_time_and_travels_in_smaller_company(
    open_outbox: OpenOutbox, clock: ManualClock
):
    outbox = await open_outbox()
    for number in range(8):
        await outbox.put(verdict(f"v{number}"))
    until = clock.now_ns() + 5_000_000_000
    await outbox.postpone("a", {item.seq: until for item in await claim(outbox, max_rows=8)})

    early = await claim(outbox, max_rows=8)
    clock.jump(5)
    due = await claim(outbox, max_rows=8)

    assert early == []
    assert ids(due) == ["v0", "v1", "v2", "v3"]


async def test_a_wait_is_over_when_the_clock_is_set_back_beyond_any_wait(open_outbox: OpenOutbox, clock: ManualClock):
    outbox = await open_outbox()
    await outbox.put(verdict("v1"))

    clock.jump(-3600)

    assert ids(await claim(outbox)) == ["v1"]


async def test_the_oldest_verdict_gives_way_at_the_bound_in_rows(open_outbox: OpenOutbox, registry: CollectorRegistry):
    outbox = await open_outbox("a", "b", limits=OutboxLimits(max_backlog_rows=2))
    await outbox.put(verdict("v1"))
    await outbox.delivered("b", await claim(outbox, "b"))

    for number in (2, 3):
        await outbox.put(verdict(f"v{number}"))

    assert ids(await claim(outbox, "a")) == ["v2", "v3"]
    assert ids(await claim(outbox, "b")) == ["v2", "v3"]
    assert [(letter.verdict_id, letter.reason) for letter in await outbox.dead_letters()] == [("v1", "overflow")]
    assert registry.get_sample_value("adhere_export_dead_lettered_total", {"exporter": "a", "reason": "overflow"}) == 1


async def test_the_backlog_is_bounded_in_bytes(open_outbox: OpenOutbox):
    outbox = await open_outbox(limits=OutboxLimits(max_backlog_bytes=20_000))

    for number in range(20):
        await outbox.put(verdict(f"v{number}", reason="x" * 4000))

    assert 0 < outbox.backlog("a").bytes <= 20_000
    assert ids(await claim(outbox))[-1] == "v19"


async def test_what_is_on_its_way_does_not_give_way(open_outbox: OpenOutbox):
    outbox = await open_outbox(limits=OutboxLimits(max_backlog_rows=2))
    await outbox.put(verdict("v1"))
    on_its_way = await claim(outbox)

    await outbox.put(verdict("v2"))
    await outbox.put(verdict("v3"))
    await outbox.delivered("a", on_its_way)

    assert [letter.verdict_id for letter in await outbox.dead_letters()] == ["v2"]
    assert outbox.backlog("a").rows == 1


async def test_dead_letters_are_bounded_and_the_newest_stay(open_outbox: OpenOutbox):
    outbox = await open_outbox(limits=OutboxLimits(max_dead_rows=2))
    for number in range(4):
        await outbox.put(verdict(f"v{number}"))

    await outbox.bury("a", [item.seq for item in await claim(outbox)], reason=DeadLetterReason.REJECTED, error="No.")

    assert [letter.verdict_id for letter in await outbox.dead_letters("a")] == ["v3", "v2"]


async def test_verdicts_of_a_removed_destination_become_dead_letters(open_outbox: OpenOutbox):
    outbox = await open_outbox("a", "b")
    await outbox.put(verdict("v1"))
    await outbox.shutdown(1)

    outbox = await open_outbox("a")

    assert [(letter.destination, letter.reason) for letter in await outbox.dead_letters()] == [
        ("b", "destination_removed")
    ]
    assert ids(await claim(outbox, "a")) == ["v1"]


async def test_delivered_verdicts_leave_the_disk_and_their_ids_after_the_retention(
    open_outbox: OpenOutbox, clock: ManualClock, tmp_path: Path
):
    outbox = await open_outbox("a", "b", limits=OutboxLimits(retention_s=100))
    for number in range(50):
        await outbox.put(verdict(f"v{number}", reason="x" * 10_000))
    for destination in ("a", "b"):
        await outbox.delivered(destination, await claim(outbox, destination))

    await outbox.forget()
    before = rows(tmp_path)
    clock.jump(101)
    await outbox.forget()

    assert before == {"verdicts": 50, "bodies": 0, "pending": 0, "dead": 0}
    assert rows(tmp_path) == {"verdicts": 0, "bodies": 0, "pending": 0, "dead": 0}


async def test_an_undecodable_row_becomes_a_dead_letter_and_the_next_ones_flow(open_outbox: OpenOutbox, tmp_path: Path):
    outbox = await open_outbox()
    await outbox.put(verdict("v1"))
    await outbox.put(verdict("v2"))
    await outbox.shutdown(1)
    execute(tmp_path, 'UPDATE bodies SET body = \'{"v": 1, "verdict": {}}\' WHERE seq = 1')

    outbox = await open_outbox()

    assert ids(await claim(outbox)) == ["v2"]
    assert [letter.reason for letter in await outbox.dead_letters()] == ["undecodable"]


@pytest.mark.parametrize(
    "content",
    [b"SQLite format 3\x00" + b"\xff" * 5000, bytes(range(256)) * 64, b"\x00" * 8192],
    ids=["header_then_garbage", "garbage", "zeros"],
)
async def test_a_corrupt_file_is_set_aside_and_never_blocks_the_start(
    open_outbox: OpenOutbox, tmp_path: Path, registry: CollectorRegistry, content: bytes
):
    (tmp_path / "outbox.db").write_bytes(content)

    outbox = await open_outbox()
    await outbox.put(verdict("v1"))

    assert ids(await claim(outbox)) == ["v1"]
    [aside] = set_aside_files(tmp_path)
    assert aside.read_bytes() == content
    assert registry.get_sample_value("adhere_outbox_corrupt_files_total") == 1


@pytest.mark.parametrize("content", [b"", b"x"], ids=["empty", "one_byte"])
async def test_a_file_without_content_is_a_new_outbox(open_outbox: OpenOutbox, tmp_path: Path, content: bytes):
    (tmp_path / "outbox.db").write_bytes(content)

    outbox = await open_outbox()

    await outbox.put(verdict("v1"))
    assert ids(await claim(outbox)) == ["v1"]


async def test_damaged_pages_are_found_at_the_start(open_outbox: OpenOutbox, tmp_path: Path):
    outbox = await open_outbox()
    for number in range(50):
        await outbox.put(verdict(f"v{number}", reason="x" * 2000))
    await outbox.shutdown(1)
    with (tmp_path / "outbox.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096 * 8)

    outbox = await open_outbox()

    await outbox.put(verdict("v1"))
    assert ids(await claim(outbox)) == ["v1"]
    assert len(set_aside_files(tmp_path)) == 1


async def test_damage_while_it_is_open_is_one_retryable_error_and_a_new_file(
    open_outbox: OpenOutbox, tmp_path: Path, registry: CollectorRegistry
):
    outbox = await open_outbox()
    await asyncio.gather(*(outbox.put(verdict(f"v{number}", reason="x" * 20_000)) for number in range(400)))
    damage(tmp_path)

    with pytest.raises(OutboxUnavailableError, match="set aside"):
        await claim(outbox, max_rows=400)
    await outbox.put(verdict("after"))

    assert ids(await claim(outbox)) == ["after"]
    assert outbox.backlog("a").rows == 1
    assert len(set_aside_files(tmp_path)) == 1
    assert registry.get_sample_value("adhere_outbox_corrupt_files_total") == 1


async def test_only_the_newest_corrupt_files_are_kept(open_outbox: OpenOutbox, tmp_path: Path):
    for number in range(5):
        (tmp_path / "outbox.db").write_bytes(b"garbage number %d" % number)
        outbox = await open_outbox()
        await outbox.shutdown(1)

    kept = [path.read_bytes() for path in set_aside_files(tmp_path)]
    assert kept == [b"garbage number %d" % number for number in (2, 3, 4)]


@pytest.mark.parametrize(
    "statement",
    ["PRAGMA user_version = 99", "CREATE TABLE orders (id INTEGER)"],
    ids=["newer_release", "other_program"],
)
async def test_a_file_that_is_not_ours_to_read_is_refused_and_left_alone(
    open_outbox: OpenOutbox, tmp_path: Path, statement: str
):
    execute(tmp_path, statement)
    before = (tmp_path / "outbox.db").read_bytes()

    with pytest.raises(OutboxVersionError):
        await open_outbox()

    assert (tmp_path / "outbox.db").read_bytes() == before


async def test_a_closed_outbox_says_so(open_outbox: OpenOutbox):
    outbox = await open_outbox()
    await outbox.shutdown(1)
    await outbox.shutdown(1)

    with pytest.raises(OutboxUnavailableError, match="closed"):
        await outbox.put(verdict("v1"))


async def test_a_disk_that_refuses_is_a_retryable_error(tmp_path: Path, clock: ManualClock, metrics: ExportMetrics):
    outbox = Outbox(tmp_path / "absent" / "outbox.db", destinations=["a"], clock=clock, metrics=metrics)

    with pytest.raises(OutboxUnavailableError, match=r"outbox\.db"):
        await outbox.start()


def test_two_destinations_cannot_share_a_name(tmp_path: Path, clock: ManualClock, metrics: ExportMetrics):
    with pytest.raises(ExporterConfigError, match="'a'"):
        Outbox(tmp_path / "outbox.db", destinations=["a", "a"], clock=clock, metrics=metrics)


async def test_the_backlog_shows_in_the_metrics(
    open_outbox: OpenOutbox, registry: CollectorRegistry, clock: ManualClock
):
    outbox = await open_outbox()
    await outbox.put(verdict("v1"))
    clock.jump(30)
    await outbox.put(verdict("v2"))

    waiting = [registry.get_sample_value(f"adhere_export_{name}", {"exporter": "a"}) for name in GAUGES]
    await outbox.delivered("a", await claim(outbox))

    assert waiting[0] == 2
    assert waiting[1] == outbox_size(2)
    assert waiting[2] == 30
    assert [registry.get_sample_value(f"adhere_export_{name}", {"exporter": "a"}) for name in GAUGES] == [0, 0, 0]


GAUGES = ("backlog_verdicts", "backlog_bytes", "oldest_age_seconds")


def outbox_size(count: int) -> int:
    from exporters.outbox.codec import encode_verdict

    return count * len(encode_verdict(verdict("v1")))


def execute(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "outbox.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def damage(folder: Path) -> None:
    """What a broken disk may do to a file that is open."""
    for name in ("outbox.db", "outbox.db-wal"):
        with (folder / name).open("r+b") as file:
            size = file.seek(0, 2)
            file.seek(0)
            file.write(b"\xa5" * size)


def set_aside_files(folder: Path) -> list[Path]:
    """Oldest first, without their side files."""
    return sorted(path for path in folder.glob("*.unsound-*") if path.suffix[9:].isdecimal())


def rows(folder: Path) -> dict[str, int]:
    connection = sqlite3.connect(folder / "outbox.db")
    counted = {
        table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in ("verdicts", "bodies", "pending", "dead")
    }
    connection.close()
    return counted
