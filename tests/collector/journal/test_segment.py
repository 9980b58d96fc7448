"""Segment headers and names."""

from __future__ import annotations

import struct

import pytest
import xxhash

from collector.journal.errors import JournalVersionError
from collector.journal.files import OsFiles
from collector.journal.segment import (
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    list_segments,
    read_segment_header,
    segment_path,
)

HEADER = SegmentHeader(number=3, first_record_id=40, salt=99, created_ns=5)


def read(path):
    files = OsFiles()
    fd = files.open(path)
    try:
        return read_segment_header(files, fd, path=path)
    finally:
        files.close(fd)


def write(directory, content, *, number=3):
    path = segment_path(directory, number)
    path.write_bytes(content)
    return path


def test_a_header_comes_back(tmp_path):
    path = write(tmp_path, HEADER.pack())

    assert path.stat().st_size == SEGMENT_HEADER_BYTES
    assert read(path) == HEADER


@pytest.mark.parametrize("start", [0, 512])
def test_one_damaged_copy_does_not_matter(tmp_path, start):
    content = bytearray(HEADER.pack())
    content[start : start + 512] = bytes(512)

    assert read(write(tmp_path, content)) == HEADER


@pytest.mark.parametrize(
    "content", [b"", b"short", bytes(2000), b"\xff" * 2000], ids=["empty", "short", "zeros", "ones"]
)
def test_what_is_no_header_is_none(tmp_path, content):
    assert read(write(tmp_path, content)) is None


def test_a_file_under_another_number_is_none(tmp_path):
    assert read(write(tmp_path, HEADER.pack(), number=4)) is None


def test_a_newer_version_is_refused_in_one_sentence(tmp_path):
    path = write(tmp_path, newer_header())

    with pytest.raises(JournalVersionError, match=r"has format version 2 and this Adhere reads up to 1; .*\.$"):
        read(path)


def test_a_damaged_newer_version_is_damage(tmp_path):
    content = bytearray(newer_header())
    content[9] ^= 1

    assert read(write(tmp_path, content)) is None


def test_segments_are_listed_by_number_and_other_names_are_not(tmp_path):
    for name in ("00000000000000000010.segment", "00000000000000000009.segment", "9.segment", "mark", "x.segment"):
        (tmp_path / name).touch()

    assert list_segments(tmp_path) == [9, 10]
    assert list_segments(tmp_path / "missing") == []


def newer_header() -> bytes:
    """A longer header of version 2, as a later Adhere may write it."""
    fields = struct.pack("<8sIIQ", b"ADHEREJ\n", 2, 96, 3).ljust(88, b"n")
    return (fields + struct.pack("<Q", xxhash.xxh3_64_intdigest(fields))).ljust(4096, b"\0")
