"""Opening what an earlier writer, or something else, left behind."""

from __future__ import annotations

import os
from random import Random

import pytest

from collector.errors import JournalUnavailableError
from collector.journal.errors import JournalVersionError
from collector.journal.segment import SEGMENT_HEADER_BYTES, segment_path
from tests.collector.journal.journals import Journal, append, drain
from tests.collector.journal.test_segment import newer_header
from tests.support.unsynced_files import UnsyncedFiles

BODIES = [b"%04d" % number * 200 for number in range(12)]


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal")


def aside(journal):
    return sorted(path.name for path in (journal.directory / "corrupt").glob("*"))


def test_a_torn_tail_is_cut_kept_and_counted(journal):
    journal.write(*BODIES)
    last = journal.segment_paths()[-1]
    torn = b"\xadHR\n half a record"
    size = last.stat().st_size
    last.write_bytes(last.read_bytes() + torn)

    journal.write(b"after")

    assert last.stat().st_size == size
    assert journal.read_bodies() == [*BODIES, b"after"]
    assert journal.value("torn_tails_total") == 1
    assert journal.total("lost_records_total") == 0
    (kept,) = (journal.directory / "corrupt").glob("*.bytes")
    assert kept.read_bytes() == torn


def test_a_lost_end_that_was_acknowledged_is_counted_exactly(journal):
    journal.write(*BODIES)
    last = journal.segment_paths()[-1]
    os.truncate(last, SEGMENT_HEADER_BYTES + 3)
    in_last = 12 - len(journal_bodies_outside(journal, last))

    journal.write(b"after")

    assert journal.read_bodies() == [*BODIES[: 12 - in_last], b"after"]
    assert journal.value("lost_records_total", cursor="evaluator") == in_last > 0
    assert journal.value("corrupt_total", reason="durable_tail") == 1


def journal_bodies_outside(journal, path):
    return [body for body in journal.read_bodies() if not path.read_bytes().count(body)]


NOT_SEGMENTS = {
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(70_000)),
    "random": lambda path: path.write_bytes(Random(1).randbytes(70_000)),
    "short": lambda path: path.write_bytes(b"ADHEREJ\n\x01"),
    "version_zero": lambda path: path.write_bytes(b"ADHEREJ\n" + bytes(2000)),
    "wrong_version_damaged": lambda path: path.write_bytes(b"ADHEREJ\n\xff\xff\xff\xff" + bytes(2000)),
    "directory": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "dangling_link": lambda path: path.symlink_to("nowhere"),
    "link_to_device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("make", NOT_SEGMENTS.values(), ids=NOT_SEGMENTS.keys())
@pytest.mark.parametrize("number", [1, 900], ids=["oldest", "newest"])
def test_what_is_no_segment_never_blocks_the_start(journal, make, number):
    first = journal.write(*BODIES)
    target = segment_path(journal.directory, first[0].segment if number == 1 else number)
    target.unlink(missing_ok=True)
    make(target)

    last = journal.write(b"after")

    bodies = journal.read_bodies()
    assert bodies[-1] == b"after"
    assert bodies[:-1] == [body for body, at in zip(BODIES, first, strict=True) if number == 900 or at.segment > 1]
    assert [name for name in aside(journal) if name.startswith(target.name)] != []
    assert journal.total("corrupt_total") == 1
    assert last[0].segment > target_number(target)


def test_a_file_with_a_number_that_no_position_holds_is_no_segment(journal):
    journal.write(*BODIES)
    stray = segment_path(journal.directory, 10**20 - 1)
    stray.write_bytes(b"left behind")

    journal.write(b"after")

    assert journal.read_bodies() == [*BODIES, b"after"]
    assert stray.read_bytes() == b"left behind"


def target_number(path):
    return int(path.name.removesuffix(".segment"))


@pytest.mark.parametrize("name", ["mark", "cursors/evaluator"])
@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(Random(2).randbytes(9000)),
        lambda path: path.mkdir(),
        os.mkfifo,
    ],
    ids=["empty", "random", "directory", "fifo"],
)
def test_a_damaged_mark_or_cursor_never_blocks_the_start(journal, name, make):
    journal.write(*BODIES)
    assert journal.read_bodies() == BODIES
    path = journal.directory / name
    path.unlink()
    make(path)

    journal.write(b"after")

    assert journal.read_bodies() == [*BODIES, b"after"]


@pytest.mark.parametrize("name", ["00000000000000000001.segment", "00000000000000000900.segment"])
def test_a_newer_version_refuses_to_start_and_nothing_is_changed(journal, name):
    journal.write(*BODIES)
    (journal.directory / name).write_bytes(newer_header())
    (journal.directory / "00000000000000000700.segment").write_bytes(b"damaged")
    before = content(journal.directory)

    with pytest.raises(JournalVersionError, match="it was left as it is"):
        journal.open_log()

    assert content(journal.directory) == before


def content(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file() and path.name != "lock"}


def test_a_segment_that_may_not_be_written_is_still_read(tmp_path):
    class ReadOnlyFiles(UnsyncedFiles):
        def open(self, path, *, writable=False):
            if writable and path.suffix == ".segment":
                raise PermissionError(13, "Permission denied")
            return super().open(path, writable=writable)

    journal = Journal(tmp_path, files=ReadOnlyFiles())
    journal.write(*BODIES)
    last = journal.segment_paths()[-1]
    last.write_bytes(last.read_bytes() + b"torn")

    journal.write(b"after")

    assert journal.read_bodies() == [*BODIES, b"after"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_is_refused_in_one_sentence(journal):
    journal.directory.mkdir(mode=0o500)

    with pytest.raises(JournalUnavailableError, match="cannot be opened"):
        journal.open_log()


def test_a_file_in_the_directorys_place_is_refused_in_one_sentence(journal):
    journal.directory.write_bytes(b"")

    with pytest.raises(JournalUnavailableError, match=r"cannot be opened \(File exists\); check the directory"):
        journal.open_log()


def test_numbers_are_not_used_again_when_the_files_are_gone(journal):
    before = journal.write(*BODIES)
    for path in journal.segment_paths():
        path.unlink()

    after = journal.write(b"after")

    assert after[0] > before[-1]
    assert after[0].segment > before[-1].segment
    assert journal.read_bodies() == [b"after"]


def test_a_reader_learns_exactly_how_many_deleted_records_it_lost(journal):
    journal.write(*BODIES)
    reader = journal.open_reader()
    (first, *_) = reader.read(max_bytes=1)
    reader.commit(first.next_position)
    reader.close()
    positions = [record.position for record in drain_fresh(journal)]
    for path in journal.segment_paths()[:2]:
        path.unlink()

    bodies = journal.read_bodies()

    left = [position for position in positions if position.segment > 2]
    assert bodies == BODIES[-len(left) :]
    assert journal.value("lost_records_total", cursor="evaluator") == len(BODIES) - 1 - len(left)


def drain_fresh(journal):
    reader = journal.open_reader("other")
    try:
        return drain(reader)
    finally:
        reader.close()


def test_empty_segments_of_earlier_starts_do_not_pile_up(journal):
    for _ in range(20):
        journal.write()

    assert len(journal.segment_paths()) == 1


def test_opening_a_full_journal_reads_one_segment_only(tmp_path):
    files = UnsyncedFiles()
    journal = Journal(tmp_path, files=files, max_bytes=4_000_000, segment_bytes=100_000)
    log = journal.open_log()
    for number in range(300):
        append(log, b"%d" % number * 4000)
    log.close()
    files.read_bytes = 0

    log = journal.open_log()
    log.close()

    segments = len(journal.segment_paths())
    assert segments > 30
    assert files.read_bytes < 100_000 + segments * 2 * SEGMENT_HEADER_BYTES + 20_000


def test_damage_beyond_the_bound_is_counted_and_not_kept(tmp_path):
    journal = Journal(tmp_path, max_aside_bytes=0)
    journal.write(*BODIES)
    first = journal.segment_paths()[0]
    content = bytearray(first.read_bytes())
    content[SEGMENT_HEADER_BYTES + 100] ^= 1
    first.write_bytes(content)

    bodies = journal.read_bodies()

    assert bodies == BODIES[1:]
    assert journal.value("corrupt_total", reason="payload") == 1
    assert list((tmp_path / "corrupt").iterdir()) == []


def test_damage_is_kept_once_however_often_it_is_met(journal):
    journal.write(*BODIES)
    first = journal.segment_paths()[0]
    content = bytearray(first.read_bytes())
    content[SEGMENT_HEADER_BYTES + 100] ^= 1
    first.write_bytes(content)

    for _ in range(3):
        assert journal.read_bodies() == BODIES[1:]

    (kept,) = (journal.directory / "corrupt").iterdir()
    assert kept.read_bytes() == bytes(content[SEGMENT_HEADER_BYTES : SEGMENT_HEADER_BYTES + 852])
