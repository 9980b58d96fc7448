"""An acknowledgement comes after the sync, and a power cut at any instant takes nothing that was acknowledged."""

from __future__ import annotations

import shutil
from random import Random

import pytest

from tests.collector.journal.journals import Journal, append, drain
from tests.support.power_cut_files import Disk, PowerCutFiles

CUTS_PER_OPERATION = 2


def run(scratch, *, durability="full", appends=60):
    """Append, read and commit, with every acknowledgement and commit noted among the disk's operations."""
    random = Random(11)
    directory = scratch / "journal"
    files = PowerCutFiles(directory)
    journal = Journal(directory, files=files, durability=durability, cursors=("evaluator",), segment_bytes=8192)
    log = journal.open_log()
    reader = journal.open_reader()
    for number in range(appends):
        bodies = [
            b"%d.%d|" % (number, part) + random.randbytes(random.randrange(1200)) for part in range(1 + number % 3)
        ]
        for body in bodies:
            files.note("append", body)
        append(log, *bodies)
        for body in bodies:
            files.note("ack", body)
        if durability == "relaxed" and number % 10 == 9:
            log.sync()
        if number % 5 == 4 and (records := drain(reader)):
            files.note("commit begins", records[-1].body)
            reader.commit(records[-1].next_position)
            files.note("committed", records[-1].body)
            log.collect()
    reader.close()
    log.close()
    return files


def bodies_before(files, kind, operations):
    return [operation.data for operation in files.log[:operations] if operation.kind == kind]


def read_after_cut(journal):
    journal.write()
    found = journal.read_bodies()
    shutil.rmtree(journal.directory)
    return found


def test_every_acknowledgement_comes_after_the_sync_of_its_bytes_and_of_its_files_name(scratch):
    files = run(scratch)
    dirty: dict[str, bytes] = {}
    clean: set[bytes] = set()
    named: set[str] = set()
    created: set[str] = set()

    acknowledged = 0
    for operation in files.log:
        match operation.kind:
            case "create":
                created.add(operation.name)
            case "sync_directory":
                named |= created
            case "write":
                dirty[operation.name] = dirty.get(operation.name, b"") + operation.data
            case "sync" if operation.name in named or operation.name in created:
                clean.add(dirty.pop(operation.name, b""))
            case "ack":
                acknowledged += 1
                assert any(operation.data in content for content in clean)
                assert not any(operation.data in content for content in dirty.values())
                assert {name for name in created if name.endswith(".segment")} <= named

    assert acknowledged > 80


def test_a_power_cut_after_any_operation_loses_nothing_acknowledged(scratch):
    files = run(scratch)
    random = Random(5)
    appended = set(bodies_before(files, "append", len(files.log)))
    disk = Disk()
    journal = Journal(scratch / "cut")
    cuts = 0

    for number, operation in enumerate(files.log, start=1):
        disk.apply(operation)
        acknowledged = bodies_before(files, "ack", number)
        done = bodies_before(files, "committed", number)
        begun = bodies_before(files, "commit begins", number)
        for _ in range(CUTS_PER_OPERATION):
            disk.rebuild(scratch / "cut", random=random)

            found = read_after_cut(journal)

            # From the last commit on (or from the one under way) everything acknowledged is there, once and in order.
            known = set(acknowledged)
            assert [body for body in found if body in known] in (owed(acknowledged, done), owed(acknowledged, begun))
            assert set(found) <= appended
            cuts += 1

    assert cuts >= 1000


def owed(acknowledged, commits):
    return acknowledged[acknowledged.index(commits[-1]) + 1 :] if commits else acknowledged


def test_the_cuts_would_notice_a_missing_sync(scratch):
    files = run(scratch, durability="relaxed")
    random = Random(5)
    lost = 0
    for operations in range(0, len(files.log), 7):
        files.rebuild(scratch / "cut", operations=operations, random=random)
        found = read_after_cut(Journal(scratch / "cut"))
        acknowledged = bodies_before(files, "ack", operations)
        begun = bodies_before(files, "commit begins", operations)
        lost += len(set(owed(acknowledged, begun)) - set(found))

    assert lost > 0


@pytest.mark.parametrize("seed", range(8))
def test_relaxed_durability_loses_at_most_what_came_since_the_last_sync(scratch, seed):
    files = run(scratch, durability="relaxed")
    random = Random(seed)
    operations = random.randrange(len(files.log))
    synced = max(
        index
        for index, operation in enumerate(files.log[:operations])
        if operation.kind == "sync" and operation.name.endswith(".segment")
    )
    acknowledged = bodies_before(files, "ack", operations)
    covered = len(bodies_before(files, "ack", synced))
    begun = bodies_before(files, "commit begins", operations)
    first_owed = len(acknowledged) - len(owed(acknowledged, begun))

    files.rebuild(scratch / "cut", operations=operations, random=random)
    found = read_after_cut(Journal(scratch / "cut"))

    assert set(acknowledged[first_owed:covered]) <= set(found)


@pytest.mark.parametrize("seed", range(10))
def test_a_segments_number_is_not_given_again_even_if_its_file_is_taken_away_before_a_power_cut(scratch, seed):
    directory = scratch / "whole"
    directory.mkdir()
    files = PowerCutFiles(directory)
    journal = Journal(directory, files=files)
    journal.write(b"first")
    taken = journal.write(b"second")[-1]
    files.unlink(journal.segment_paths()[-1])
    files.rebuild(scratch / "cut", operations=len(files.log), random=Random(seed))

    again = Journal(scratch / "cut").write(b"third")[-1]

    assert again.segment > taken.segment
