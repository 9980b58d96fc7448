"""Walking a segment with damage in it."""

from __future__ import annotations

import pytest

from collector.journal.record import RECORD_HEADER_BYTES
from collector.journal.scan import Damage, SegmentScan
from collector.journal.segment import SEGMENT_HEADER_BYTES, SegmentHeader
from collector.telemetry.records import Signal
from tests.support.faulty_files import FaultyFiles

HEADER = SegmentHeader(number=1, first_record_id=1, salt=4242, created_ns=0)
BODIES = [bytes([number]) * 500 for number in range(20)]
RECORD_BYTES = RECORD_HEADER_BYTES + 500


def start_of(index: int) -> int:
    return SEGMENT_HEADER_BYTES + index * RECORD_BYTES


def segment(bodies=BODIES) -> bytearray:
    content = bytearray(HEADER.pack())
    for record_id, body in enumerate(bodies, start=1):
        content += HEADER.codec.pack(
            body,
            offset=len(content),
            record_id=record_id,
            signal=Signal.TRACES,
            received_ns=0,
            raw_bytes=len(body),
            compressed=False,
        )
        content += body
    return content


@pytest.fixture
def files():
    return FaultyFiles()


@pytest.fixture
def walk(tmp_path, files):
    def run(content: bytes):
        path = tmp_path / "segment"
        path.write_bytes(content)
        fd = files.open(path)
        found, damage = [], []
        try:
            scan = SegmentScan(fd, HEADER, files=files)
            offset = SEGMENT_HEADER_BYTES
            while (step := scan.step(offset, end=len(content))) is not None:
                if isinstance(step, Damage):
                    assert step.end > offset
                    offset = step.end
                    damage.append(step)
                else:
                    offset = step.next_offset
                    found.append(bytes(step.payload))
        finally:
            files.close(fd)
        return found, damage

    return run


def test_an_intact_segment_gives_every_record(walk):
    assert walk(segment()) == (BODIES, [])


def test_records_larger_than_the_window_come_whole(walk):
    bodies = [b"a" * 3_000_000, b"b", b"c" * 1_500_000]

    assert walk(segment(bodies)) == (bodies, [])


def test_a_damaged_payload_costs_its_record(walk):
    content = segment()
    content[start_of(3) + RECORD_HEADER_BYTES + 10] ^= 1

    found, damage = walk(content)

    assert found == BODIES[:3] + BODIES[4:]
    assert damage == [Damage(start_of(3), start_of(4), "payload")]


def test_a_damaged_header_costs_its_record(walk):
    content = segment()
    content[start_of(3) + 30] ^= 1

    found, damage = walk(content)

    assert found == BODIES[:3] + BODIES[4:]
    assert damage == [Damage(start_of(3), start_of(4), "header")]


def test_a_stretch_over_several_records_costs_those(walk):
    content = segment()
    content[start_of(5) - 7 : start_of(8) + 3] = b"?" * (start_of(8) + 3 - start_of(5) + 7)

    found, damage = walk(content)

    assert found == BODIES[:4] + BODIES[9:]
    assert [entry.end for entry in damage] == [start_of(5), start_of(9)]


def test_missing_bytes_in_the_middle_end_the_segment_for_good(walk):
    content = segment()
    del content[start_of(5) + 60 : start_of(5) + 70]

    found, damage = walk(content)

    assert found == BODIES[:5]
    assert sum(entry.end - entry.start for entry in damage) == len(content) - start_of(5)


@pytest.mark.parametrize("cut", [1, 300, 500, 501, 540, RECORD_BYTES - 1])
def test_a_torn_end_is_named_as_one(walk, cut):
    content = segment()[:-cut]

    found, damage = walk(content)

    assert found == BODIES[:-1]
    assert damage == [Damage(start_of(19), len(content), "tail")]


def test_a_record_inside_a_body_is_never_taken_for_one(walk):
    other = SegmentHeader(number=1, first_record_id=1, salt=1, created_ns=0)
    forged = b"".join(
        other.codec.pack(
            b"forged",
            offset=offset,
            record_id=3,
            signal=Signal.TRACES,
            received_ns=0,
            raw_bytes=6,
            compressed=False,
        )
        + b"forged"
        for offset in range(0, 3000, 58)
    )
    content = segment([b"first", forged, b"last"])
    content[SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES + 5 + 20] ^= 1

    found, _ = walk(content)

    assert found == [b"first", b"last"]


def test_a_bad_sector_costs_the_records_on_it(walk, files):
    files.bad_ranges.append((4096, 8192))

    found, damage = walk(segment())

    on_it = [index for index in range(20) if start_of(index + 1) > 4096 and start_of(index) < 8192]
    assert found == [body for index, body in enumerate(BODIES) if index not in on_it]
    assert damage[0].reason == "unreadable"


def test_a_disk_that_reads_nothing_ends_the_walk(walk, files):
    files.bad_ranges.append((0, 1_000_000))

    found, damage = walk(segment())

    assert found == []
    assert damage == [Damage(SEGMENT_HEADER_BYTES, start_of(20), "unreadable")]
