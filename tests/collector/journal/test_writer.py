"""The writer on an event loop, with its thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from collector.clock import SystemClock
from collector.errors import (
    JournalFullError,
    JournalUnavailableError,
    OverloadedError,
    RequestTooLargeError,
)
from collector.journal.errors import JournalLockedError
from collector.journal.settings import JournalSettings
from collector.journal.writer import JournalWriter
from collector.telemetry.records import Signal
from tests.collector.journal.journals import Journal, drain
from tests.support.faulty_files import FaultyFiles

DEADLINE_S = 10.0


class GatedFiles(FaultyFiles):
    """Syncs wait at a gate, so that a test decides what queues up meanwhile."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def fdatasync(self, fd):
        assert self.gate.wait(DEADLINE_S)
        super().fdatasync(fd)


@pytest.fixture
def files():
    return GatedFiles()


@pytest.fixture
def journal(tmp_path):
    """Its readers use files of their own, past the gate."""
    return Journal(tmp_path / "journal")


@pytest.fixture
async def make_writer(journal, files):
    async with contextlib.AsyncExitStack() as stack:

        def make(**options):
            settings = JournalSettings(journal.directory, **{"compression": "never", **options})
            writer = JournalWriter(
                settings, cursors=["evaluator"], clock=SystemClock(), metrics=journal.metrics, files=files
            )
            stack.push_async_callback(writer.close, deadline_s=DEADLINE_S)
            return writer

        yield make
        files.gate.set()


@pytest.fixture
async def writer(make_writer):
    writer = make_writer()
    await writer.start()
    return writer


async def until_waiting(writer, count):
    """The thread has taken the first append and stands at the gate; the others queue up."""
    while len(writer._pending) < count or writer._orders.qsize() > count - 1:
        await asyncio.sleep(0)


async def test_an_append_returns_the_position_that_readers_see(journal, writer):
    position = await writer.append(Signal.METRICS, b"body")

    reader = journal.open_reader()
    (record,) = drain(reader)
    reader.close()
    assert (record.position, record.signal, record.body) == (position, Signal.METRICS, b"body")


async def test_what_queues_up_during_a_sync_is_one_group(journal, writer, files):
    files.gate.clear()
    appends = [asyncio.ensure_future(writer.append(Signal.TRACES, b"%d" % number)) for number in range(40)]
    await until_waiting(writer, 40)

    files.gate.set()
    positions = await asyncio.gather(*appends)

    assert positions == sorted(positions)
    assert journal.read_bodies() == [b"%d" % number for number in range(40)]
    assert journal.value("group_records_count") <= 3
    assert journal.value("appended_total", signal="traces") == 40


async def test_nothing_is_acknowledged_before_the_sync(writer, files):
    files.gate.clear()
    append = asyncio.ensure_future(writer.append(Signal.TRACES, b"body"))
    await until_waiting(writer, 1)

    done, _ = await asyncio.wait([append], timeout=0.05)

    assert not done
    files.gate.set()
    await append


async def test_bytes_in_flight_are_bounded(journal, make_writer, files):
    writer = make_writer(max_in_flight_bytes=5000)
    await writer.start()
    files.gate.clear()
    appends = [asyncio.ensure_future(writer.append(Signal.TRACES, b"x" * 1000)) for _ in range(10)]

    await until_waiting(writer, 4)
    refused = [append for append in appends if append.done()]
    files.gate.set()
    results = await asyncio.gather(*appends, return_exceptions=True)

    assert len(refused) == 6
    assert [type(result) for result in results[4:]] == [OverloadedError] * 6
    assert journal.value("refused_total", reason="overloaded") == 6
    await writer.append(Signal.TRACES, b"room again")


async def test_records_in_flight_are_bounded(make_writer, files):
    writer = make_writer(max_in_flight_records=3)
    await writer.start()
    files.gate.clear()
    appends = [asyncio.ensure_future(writer.append(Signal.TRACES, b"")) for _ in range(5)]

    await until_waiting(writer, 3)
    files.gate.set()
    results = await asyncio.gather(*appends, return_exceptions=True)

    assert [isinstance(result, OverloadedError) for result in results] == [False] * 3 + [True] * 2


async def test_one_body_above_the_flight_bound_passes_alone(make_writer):
    writer = make_writer(max_in_flight_bytes=100)
    await writer.start()

    await writer.append(Signal.TRACES, b"x" * 1000)


async def test_a_full_journal_refuses_and_opens_again_as_readers_catch_up(journal, make_writer):
    writer = make_writer(max_bytes=100_000)
    await writer.start()
    for _ in range(9):
        await writer.append(Signal.TRACES, b"x" * 10_000)

    with pytest.raises(JournalFullError):
        await writer.append(Signal.TRACES, b"x" * 10_000)
    was_accepting = writer.is_accepting
    reader = journal.open_reader()
    reader.commit(drain(reader)[-1].next_position)
    reader.close()
    deleted = await writer.collect()

    assert deleted > 0
    assert was_accepting
    await writer.append(Signal.TRACES, b"x" * 10_000)
    assert journal.value("refused_total", reason="full") == 1


async def test_a_body_that_can_never_fit_is_refused_for_good(journal, make_writer):
    writer = make_writer(max_bytes=10_000)
    await writer.start()

    with pytest.raises(RequestTooLargeError, match="can never fit the journal's 10000 bytes"):
        await writer.append(Signal.TRACES, b"x" * 10_000)

    assert journal.value("refused_total", reason="too_large") == 1


async def test_a_full_disk_is_refused_and_recovers_by_itself(journal, writer, files):
    await writer.append(Signal.TRACES, b"before")
    files.space_bytes = 100

    with pytest.raises(JournalUnavailableError) as refusal:
        await writer.append(Signal.TRACES, b"x" * 1000)
    files.space_bytes = None
    await writer.append(Signal.TRACES, b"after")

    assert refusal.value.retry_after_s is not None
    assert journal.read_bodies() == [b"before", b"after"]
    assert journal.value("refused_total", reason="unavailable") == 1


async def test_an_error_nobody_foresaw_is_an_answer_and_not_the_end(journal, writer, files):
    files.failing["write"] = "no number"  # OSError of a kind that os.strerror cannot name: a TypeError in the thread

    with pytest.raises(JournalUnavailableError, match=r"failed unexpectedly \(TypeError\)"):
        await writer.append(Signal.TRACES, b"lost")
    files.failing.clear()
    await writer.append(Signal.TRACES, b"after")

    assert journal.read_bodies() == [b"after"]


async def test_a_caller_that_gives_up_does_not_hold_the_others(journal, writer, files):
    files.gate.clear()
    appends = [asyncio.ensure_future(writer.append(Signal.TRACES, b"%d" % number)) for number in range(3)]
    await until_waiting(writer, 3)

    appends[1].cancel()
    files.gate.set()
    await asyncio.gather(*appends, return_exceptions=True)

    assert journal.read_bodies() == [b"0", b"1", b"2"]
    assert writer._in_flight_bytes == 0


async def test_closing_writes_what_was_accepted(journal, make_writer):
    writer = make_writer()
    await writer.start()
    appends = [asyncio.ensure_future(writer.append(Signal.TRACES, b"%d" % number)) for number in range(50)]
    await asyncio.sleep(0)

    await writer.close(deadline_s=DEADLINE_S)

    assert all(append.done() for append in appends)
    await asyncio.gather(*appends)
    assert len(journal.read_bodies()) == 50


async def test_the_deadline_of_closing_is_kept_on_a_disk_that_hangs(journal, writer, files):
    files.gate.clear()
    append = asyncio.ensure_future(writer.append(Signal.TRACES, b"stuck"))
    await until_waiting(writer, 1)

    await writer.close(deadline_s=0.05)

    with pytest.raises(JournalUnavailableError):
        await append
    assert journal.value("refused_total", reason="closing") == 1
    files.gate.set()
    await writer.close(deadline_s=DEADLINE_S)
    assert journal.total("appended_total") == 0


async def test_start_and_close_are_safe_twice_and_in_any_order(make_writer):
    never_started = make_writer()
    await never_started.close(deadline_s=1)
    with pytest.raises(JournalUnavailableError):
        await never_started.start()

    writer = make_writer()
    await asyncio.gather(writer.start(), writer.start())
    await writer.start()
    await asyncio.gather(writer.close(deadline_s=DEADLINE_S), writer.close(deadline_s=DEADLINE_S))
    await writer.close(deadline_s=DEADLINE_S)

    with pytest.raises(JournalUnavailableError, match="is not open"):
        await writer.append(Signal.TRACES, b"late")
    assert await writer.collect() == 0
    assert not writer.is_accepting


async def test_a_second_writer_is_refused_until_the_first_is_closed(make_writer, writer):
    second = make_writer()

    with pytest.raises(JournalLockedError):
        await second.start()
    await writer.close(deadline_s=DEADLINE_S)
    await second.start()

    await second.append(Signal.TRACES, b"")


async def test_relaxed_appends_do_not_wait_for_the_sync(journal, make_writer, files):
    writer = make_writer(durability="relaxed", sync_interval_s=0.01)
    await writer.start()
    files.gate.clear()

    await writer.append(Signal.TRACES, b"body")
    unsynced = journal.read_bodies()
    files.gate.set()
    await writer.close(deadline_s=DEADLINE_S)

    assert unsynced == []
    assert journal.read_bodies() == [b"body"]
