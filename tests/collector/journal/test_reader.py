"""Reading by named cursor."""

from __future__ import annotations

import errno

import pytest

from collector.errors import JournalUnavailableError
from collector.journal.errors import JournalLockedError
from collector.journal.protocol import Position
from collector.journal.reader import POLL_S, JournalReader
from collector.telemetry.records import Signal
from tests.collector.journal.journals import Journal, append, drain
from tests.support.clock import ManualClock
from tests.support.faulty_files import FaultyFiles

BODIES = [b"%04d" % number * 100 for number in range(30)]


@pytest.fixture
def files():
    return FaultyFiles()


@pytest.fixture
def journal(tmp_path, files):
    return Journal(tmp_path / "journal", files=files)


@pytest.fixture
def filled(journal):
    journal.write(*BODIES)
    return journal


@pytest.fixture
def reader(filled):
    reader = filled.open_reader()
    yield reader
    reader.close()


def test_a_record_says_what_was_appended(journal):
    log = journal.open_log()
    append(log, b"a log", signal=Signal.LOGS)
    log.close()
    reader = journal.open_reader()

    (record,) = reader.read(max_bytes=1000)
    reader.close()

    assert (record.signal, record.received_ns, record.body) == (Signal.LOGS, 1, b"a log")
    assert record.position < record.next_position


def test_a_read_stays_within_its_bytes(reader):
    records = reader.read(max_bytes=1000)

    assert [record.body for record in records] == BODIES[:2]


def test_a_read_gives_at_least_one_record(reader):
    assert [record.body for record in reader.read(max_bytes=1)] == BODIES[:1]


def test_reads_go_on_where_the_last_one_ended(reader):
    assert [record.body for record in drain(reader, max_bytes=900)] == BODIES


def test_a_restart_reads_on_from_the_commit(filled):
    reader = filled.open_reader()
    records = reader.read(max_bytes=4000)
    reader.read(max_bytes=4000)
    reader.commit(records[6].next_position)
    reader.close()

    assert filled.read_bodies() == BODIES[7:]


@pytest.mark.parametrize("taken", [1, 5, 29, 30])
def test_every_position_can_be_committed(filled, taken):
    reader = filled.open_reader()
    records = drain(reader)
    reader.commit(records[taken - 1].next_position)
    reader.close()

    assert filled.read_bodies() == BODIES[taken:]
    assert filled.total("lost_records_total") == 0


def test_cursors_are_independent(filled):
    reader = filled.open_reader("relay")
    reader.commit(drain(reader)[-1].next_position)
    reader.close()

    assert filled.read_bodies("evaluator") == BODIES
    assert filled.read_bodies("relay") == []


def test_a_commit_never_goes_back(reader):
    records = reader.read(max_bytes=4000)
    reader.commit(records[5].next_position)

    reader.commit(records[2].next_position)

    assert reader.committed == records[5].next_position


def test_what_was_not_read_cannot_be_committed(reader):
    with pytest.raises(ValueError, match="cannot commit"):
        reader.commit(Position(1, 5000))


def test_a_commit_that_the_disk_refuses_changes_nothing(filled, files):
    reader = filled.open_reader()
    records = reader.read(max_bytes=4000)
    reader.commit(records[0].next_position)
    files.failing["write"] = errno.EIO

    with pytest.raises(JournalUnavailableError, match="it stays where it was"):
        reader.commit(records[1].next_position)
    files.failing.clear()
    reader.close()

    assert filled.read_bodies() == BODIES[1:]


def test_a_cursor_works_on_a_full_disk(filled, files):
    filled.open_reader().close()
    files.space_bytes = 0

    reader = filled.open_reader()
    reader.commit(drain(reader)[-1].next_position)
    reader.close()

    assert filled.read_bodies() == []


def test_a_cursor_is_held_by_one_reader(reader, filled):
    with pytest.raises(JournalLockedError, match=r"Journal cursor evaluator in .* is held by another reader"):
        filled.open_reader()


@pytest.mark.parametrize("name", ["", "../evaluator", "a/b", ".hidden", "x" * 101, "nul\0", "line\n"])
def test_a_name_that_is_no_file_name_is_refused(filled, name):
    with pytest.raises(ValueError, match="cannot be a file name"):
        filled.open_reader(name)


def test_a_torn_cursor_falls_back_and_is_counted(filled):
    reader = filled.open_reader()
    records = drain(reader)
    reader.commit(records[4].next_position)
    reader.commit(records[9].next_position)
    reader.close()
    path = filled.directory / "cursors" / "evaluator"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)

    bodies = filled.read_bodies()

    assert bodies == BODIES[5:]
    assert filled.value("cursor_fallbacks_total", cursor="evaluator") == 1


def test_a_position_that_was_deleted_goes_on_at_the_oldest_record(filled):
    reader = filled.open_reader()
    records = drain(reader)
    reader.commit(records[3].next_position)
    reader.close()
    for path in filled.segment_paths()[:-1]:
        path.unlink()

    bodies = filled.read_bodies()

    assert bodies == BODIES[-len(bodies) :]
    assert filled.value("lost_records_total", cursor="evaluator") == 30 - 4 - len(bodies)


def test_a_reader_may_be_there_before_the_writer(journal):
    reader = journal.open_reader()
    before = reader.read(max_bytes=1000)

    log = journal.open_log()
    append(log, b"first")
    after = [record.body for record in reader.read(max_bytes=1000)]
    log.close()
    reader.close()

    assert before == []
    assert after == [b"first"]


def test_a_reader_follows_over_restarts_of_the_writer(journal):
    reader = journal.open_reader()
    seen = []
    for number in range(5):
        journal.write(b"%d" % number)
        seen += [record.body for record in drain(reader)]
    reader.close()

    assert seen == [b"0", b"1", b"2", b"3", b"4"]


def test_a_reader_notices_that_the_mark_was_replaced(journal):
    journal.write(b"one")
    reader = journal.open_reader()
    drain(reader)
    (journal.directory / "mark").unlink()

    journal.write(b"two")
    seen = [record.body for record in drain(reader)]
    reader.close()

    assert seen == [b"two"]


class TestWait:
    @pytest.fixture
    def clock(self):
        return ManualClock()

    @pytest.fixture
    def sleeps(self):
        return []

    @pytest.fixture
    def open_waiting(self, journal, clock, sleeps):
        readers = []

        def open_(on_sleep):
            def sleep(seconds):
                sleeps.append(seconds)
                clock._monotonic_s += seconds
                on_sleep()

            reader = JournalReader(
                journal.directory, "evaluator", clock=clock, metrics=journal.metrics, files=journal.files, sleep=sleep
            )
            readers.append(reader)
            return reader

        yield open_
        for reader in readers:
            reader.close()

    def test_there_is_something_at_once(self, filled, open_waiting, sleeps):
        assert open_waiting(lambda: None).wait(timeout_s=5)
        assert sleeps == []

    def test_the_time_passes_without_anything_new(self, journal, open_waiting, sleeps):
        log = journal.open_log()
        reader = open_waiting(lambda: None)
        drain(reader)

        assert not reader.wait(timeout_s=1)
        assert sum(sleeps) == pytest.approx(1)
        assert len(sleeps) <= 1 / POLL_S + 1
        log.close()

    def test_a_record_on_the_way_ends_the_wait(self, journal, open_waiting, sleeps):
        log = journal.open_log()
        reader = open_waiting(lambda: append(log, b"new") if len(sleeps) == 3 else None)

        drain(reader)

        assert reader.wait(timeout_s=5)
        assert len(sleeps) == 3
        assert [record.body for record in drain(reader)] == [b"new"]
        log.close()

    def test_records_that_are_gone_do_not_end_every_wait(self, filled, open_waiting):
        for path in filled.segment_paths():
            path.unlink()
        reader = open_waiting(lambda: None)

        assert drain(reader) == []
        assert not reader.wait(timeout_s=1)
