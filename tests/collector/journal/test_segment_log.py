"""Appending, rotating and deleting, and a disk that refuses."""

from __future__ import annotations

import errno

import pytest

from collector.errors import JournalFullError, JournalUnavailableError
from collector.journal.errors import JournalLockedError
from collector.journal.protocol import Position
from collector.journal.segment import SEGMENT_HEADER_BYTES
from tests.collector.journal.journals import SEGMENT_BYTES, Journal, append, drain
from tests.support.clock import ManualClock
from tests.support.faulty_files import FaultyFiles

BODY = b"b" * 1000


@pytest.fixture
def files():
    return FaultyFiles()


@pytest.fixture
def journal(tmp_path, files):
    return Journal(tmp_path / "journal", files=files)


@pytest.fixture
def log(journal):
    log = journal.open_log()
    yield log
    log.close()


def read_and_commit(journal, name="evaluator"):
    reader = journal.open_reader(name)
    try:
        records = drain(reader)
        if records:
            reader.commit(records[-1].next_position)
    finally:
        reader.close()
    return [record.body for record in records]


def test_positions_grow_and_are_those_that_readers_see(journal, log):
    positions = [append(log, b"%d" % number * 300) for number in range(40)]

    reader = journal.open_reader()
    seen = [record.position for record in drain(reader)]
    reader.close()

    assert positions == sorted(set(positions))
    assert seen == positions
    assert len({position.segment for position in positions}) > 1


def test_a_segment_stays_below_its_bound(journal, log):
    for _ in range(20):
        append(log, BODY)

    assert max(path.stat().st_size for path in journal.segment_paths()) <= SEGMENT_BYTES


def test_a_record_above_the_segment_bound_gets_its_own(journal, log):
    large = b"l" * (SEGMENT_BYTES * 2)

    append(log, b"small")
    append(log, large)
    append(log, b"small")

    assert read_and_commit(journal) == [b"small", large, b"small"]


def test_short_writes_are_continued(journal, log, files):
    files.max_write_bytes = 7

    append(log, BODY, b"", b"x", BODY)

    assert journal.read_bodies() == [BODY, b"", b"x", BODY]


@pytest.mark.parametrize(
    "body", [b"\0" * 5000, b"short", b"", bytes(range(256)) * 9], ids=["zeros", "short", "empty", "all"]
)
def test_compressed_bodies_come_back(tmp_path, body):
    journal = Journal(tmp_path, compression="always")

    journal.write(body)

    assert journal.read_bodies() == [body]


def test_compression_saves_space(tmp_path):
    journal = Journal(tmp_path, compression="always")

    journal.write(b"compressible " * 1000)

    assert sum(path.stat().st_size for path in journal.segment_paths()) < 4000


class TestRetention:
    def test_segments_go_once_every_expected_cursor_has_passed(self, tmp_path):
        journal = Journal(tmp_path, cursors=("evaluator", "relay"))
        log = journal.open_log()
        for _ in range(20):
            append(log, BODY)

        read_and_commit(journal, "evaluator")
        kept = log.collect()
        read_and_commit(journal, "relay")
        deleted = log.collect()
        log.close()

        assert kept == 0
        assert deleted > 0
        assert len(journal.segment_paths()) == 1

    def test_an_expected_cursor_that_never_came_holds_everything(self, tmp_path):
        journal = Journal(tmp_path, cursors=("evaluator", "new"))
        log = journal.open_log()
        for _ in range(10):
            append(log, BODY)
        read_and_commit(journal)

        assert log.collect() == 0
        log.close()

    def test_a_cursor_that_is_not_expected_holds_nothing(self, journal, log):
        journal.open_reader("retired").close()
        for _ in range(10):
            append(log, BODY)
        read_and_commit(journal)

        assert log.collect() > 0

    def test_a_large_segment_that_is_read_to_its_end_goes_too(self, journal, log):
        append(log, b"l" * SEGMENT_BYTES)
        read_and_commit(journal)

        log.collect()

        assert sum(path.stat().st_size for path in journal.segment_paths()) < 2000

    def test_the_age_of_what_is_unread_is_told(self, tmp_path):
        clock = ManualClock(now_ns=90_000_000_001)
        journal = Journal(tmp_path, clock=clock)
        log = journal.open_log()
        append(log, b"received at 1 ns")

        log.collect()
        before = journal.value("oldest_unread_seconds", cursor="evaluator")
        read_and_commit(journal)
        log.collect()
        log.close()

        assert before == 90.0
        assert journal.value("oldest_unread_seconds", cursor="evaluator") == 0.0


class TestFullJournal:
    def test_the_bound_is_kept_and_lifted_by_reading(self, journal, log):
        while log.disk_bytes + 2 * len(BODY) + SEGMENT_HEADER_BYTES < journal.max_bytes:
            append(log, BODY)
        append(log, BODY)

        with pytest.raises(JournalFullError) as refusal:
            append(log, BODY)
        on_disk = sum(path.stat().st_size for path in journal.segment_paths())
        shown = journal.value("disk_bytes") / journal.value("max_bytes")
        read_and_commit(journal)
        log.collect()
        append(log, BODY)

        assert on_disk <= journal.max_bytes < on_disk + 3 * len(BODY)
        assert 0.9 < shown <= 1.0
        assert refusal.value.retry_after_s is not None

    def test_space_in_the_segment_being_written_is_freed_when_it_is_wanted(self, tmp_path):
        journal = Journal(tmp_path, max_bytes=8192)
        log = journal.open_log()
        append(log, b"a" * 900)
        read_and_commit(journal)
        large = b"b" * 6000

        with pytest.raises(JournalFullError):
            append(log, large)
        log.collect()

        append(log, large)
        assert read_and_commit(journal) == [large]
        log.close()


class TestDiskThatRefuses:
    def test_no_space_is_refused_and_recovers_by_itself(self, journal, log, files):
        append(log, b"before")
        files.space_bytes = 500

        with pytest.raises(
            JournalUnavailableError, match=r"could not write \(No space left on device\); send again later"
        ):
            append(log, BODY)
        append(log, b"small enough")
        files.space_bytes = None
        append(log, BODY)

        assert journal.read_bodies() == [b"before", b"small enough", BODY]
        assert journal.value("disk_failures_total", operation="write") == 1

    def test_what_a_failed_write_left_is_cut_off(self, journal, log, files):
        append(log, b"before")
        size = journal.segment_paths()[-1].stat().st_size
        files.space_bytes = 500

        with pytest.raises(JournalUnavailableError):
            append(log, BODY)

        assert journal.segment_paths()[-1].stat().st_size == size

    def test_no_space_for_a_new_segment_is_refused_and_recovers(self, journal, log, files):
        for _ in range(3):
            append(log, BODY[:990])
        files.space_bytes = 0

        with pytest.raises(JournalUnavailableError):
            append(log, BODY)
        files.space_bytes = None
        append(log, b"after")

        assert journal.read_bodies() == [BODY[:990]] * 3 + [b"after"]

    def test_a_full_disk_does_not_keep_the_journal_from_opening(self, journal, files):
        journal.write(b"before")
        files.space_bytes = 0

        log = journal.open_log()
        with pytest.raises(JournalUnavailableError):
            append(log, b"during")
        assert journal.read_bodies() == [b"before"]
        files.space_bytes = None
        append(log, b"after")
        log.close()

        assert journal.read_bodies() == [b"before", b"after"]

    def test_after_a_failed_sync_the_segment_is_not_used_again(self, journal, log, files):
        first = append(log, b"first")
        files.failing["fdatasync"] = errno.EIO

        with pytest.raises(JournalUnavailableError, match="could not sync"):
            append(log, b"never acknowledged")
        del files.failing["fdatasync"]
        second = append(log, b"second")

        assert second.segment > first.segment
        assert journal.read_bodies() == [b"first", b"second"]

    def test_records_of_a_failed_sync_that_stay_in_the_file_are_no_loss(self, journal, log, files):
        append(log, b"first")
        files.failing.update(fdatasync=errno.EIO, truncate=errno.EIO)

        with pytest.raises(JournalUnavailableError):
            append(log, b"maybe")
        files.failing.clear()
        append(log, b"second")

        assert journal.read_bodies() == [b"first", b"maybe", b"second"]
        assert journal.total("lost_records_total") == 0

    def test_a_segment_that_cannot_be_cut_back_is_not_used_again(self, journal, log, files):
        first = append(log, b"first")
        files.space_bytes = 300
        files.failing["truncate"] = errno.EIO

        with pytest.raises(JournalUnavailableError):
            append(log, BODY)
        files.space_bytes = None
        files.failing.clear()
        second = append(log, b"second")

        assert second.segment > first.segment
        assert journal.read_bodies() == [b"first", b"second"]

    def test_readers_see_nothing_that_is_not_synced(self, journal, log, files):
        append(log, b"first")
        reader = journal.open_reader()
        files.failing.update(fdatasync=errno.EIO, truncate=errno.EIO)

        with pytest.raises(JournalUnavailableError):
            append(log, b"written, not synced")
        seen = [record.body for record in drain(reader)]
        reader.close()

        assert seen == [b"first"]

    def test_a_segment_that_cannot_be_deleted_is_tried_again(self, journal, log, files):
        for _ in range(10):
            append(log, BODY)
        read_and_commit(journal)
        files.failing["unlink"] = errno.EROFS

        assert log.collect() == 0
        files.failing.clear()

        assert log.collect() > 0


class TestRelaxedDurability:
    @pytest.fixture
    def journal(self, tmp_path, files):
        return Journal(tmp_path, files=files, durability="relaxed")

    def test_records_are_synced_and_shown_in_the_interval(self, journal, log):
        append(log, b"one")
        due_in_s = log.sync_due_in_s()
        before = journal.read_bodies()

        journal.clock.jump(0)
        log.sync()

        assert due_in_s == pytest.approx(journal.settings.sync_interval_s)
        assert before == []
        assert journal.read_bodies() == [b"one"]
        assert log.sync_due_in_s() is None

    def test_closing_syncs(self, journal):
        journal.write(b"one", b"two")

        assert journal.read_bodies() == [b"one", b"two"]

    def test_a_failed_sync_is_counted_and_keeps_what_it_can(self, journal, log, files):
        append(log, b"one", b"two")
        files.failing["fdatasync"] = errno.EIO

        with pytest.raises(JournalUnavailableError):
            log.sync()
        files.failing.clear()
        append(log, b"three")
        log.sync()

        assert journal.value("relaxed_unsynced_total") == 2
        assert journal.read_bodies() == [b"one", b"two", b"three"]


def test_two_writers_never_share_a_journal(journal, log):
    with pytest.raises(JournalLockedError, match=r"is being written by process \d+; stop that one or choose another"):
        journal.open_log()


def test_a_closed_journal_can_be_opened_again(journal):
    first = journal.write(b"one")
    second = journal.write(b"two")

    assert Position(0, 0) < first[0] < second[0]
    assert journal.read_bodies() == [b"one", b"two"]
