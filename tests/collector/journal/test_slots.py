"""Positions that survive a torn write."""

from __future__ import annotations

import errno

import pytest

from collector.journal.protocol import Position
from collector.journal.slots import Slot, SlotFile
from tests.support.faulty_files import FaultyFiles

SECOND_SLOT = 4096


@pytest.fixture
def path(tmp_path):
    return tmp_path / "slots"


@pytest.fixture
def files():
    return FaultyFiles()


def slot(number: int) -> Slot:
    return Slot(position=Position(1, number), next_record_id=number, written_ns=number)


def store(path, files, *numbers):
    file = SlotFile(path, magic=b"TEST", files=files)
    try:
        file.open_writable()
        file.load()
        for number in numbers:
            file.store(slot(number), sync=True)
    finally:
        file.close()


def load(path, files):
    file = SlotFile(path, magic=b"TEST", files=files)
    try:
        assert file.open_readable()
        return file.load()
    finally:
        file.close()


def damage(path, offset):
    content = bytearray(path.read_bytes())
    content[offset + 20] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_last_stored_value_comes_back(path, files, count):
    store(path, files, *range(1, count + 1))

    state = load(path, files)

    assert state.damaged == 0
    assert state.slot is not None
    assert state.slot.position == Position(1, count)


def test_a_new_file_holds_nothing(path, files):
    store(path, files)

    assert load(path, files).slot is None


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_torn_last_write_leaves_the_value_before(path, files, count):
    store(path, files, *range(1, count + 1))
    damage(path, SECOND_SLOT if count % 2 else 0)

    state = load(path, files)

    assert state.damaged == 1
    assert state.slot is not None
    assert state.slot.position == Position(1, count - 1)


def test_the_next_write_repairs_the_torn_slot(path, files):
    store(path, files, 1, 2)
    damage(path, 0)

    store(path, files, 3)

    assert load(path, files).damaged == 0
    assert load(path, files).slot.position == Position(1, 3)


def test_two_torn_slots_hold_nothing(path, files):
    store(path, files, 1, 2)
    damage(path, 0)
    damage(path, SECOND_SLOT)

    state = load(path, files)

    assert (state.slot, state.damaged) == (None, 2)


def test_a_failed_write_is_repeated_into_the_same_slot(path, files):
    file = SlotFile(path, magic=b"TEST", files=files)
    file.open_writable()
    file.store(slot(1), sync=True)
    files.failing["fdatasync"] = errno.EIO
    for number in (2, 3):
        with pytest.raises(OSError):
            file.store(slot(number), sync=True)
    file.close()

    damage(path, 0)

    assert load(path, files).slot.position == Position(1, 1)


def test_storing_needs_no_space(path, files):
    store(path, files)
    files.space_bytes = 0

    store(path, files, 1, 2, 3)

    assert load(path, files).slot.position == Position(1, 3)


def test_another_use_of_slots_is_not_mistaken_for_this_one(path, files):
    store(path, files, 1)
    file = SlotFile(path, magic=b"ELSE", files=files)
    file.open_readable()

    state = file.load()
    file.close()

    assert state.slot is None
