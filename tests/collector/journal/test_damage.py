"""Random damage to any file: never an error, never a wrong body, and the loss is counted to the record."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from tests.collector.journal.journals import Journal, drain

BODIES = [b"%02d" % number + Random(number).randbytes(number * 23 % 700) for number in range(26)]
CASES = 100
"""For each kind of damage."""


@pytest.fixture(scope="module", params=["never", "always"], ids=["plain", "compressed"])
def intact(request, tmp_path_factory):
    """A journal of several segments with a cursor that has committed its first six records."""
    journal = Journal(tmp_path_factory.mktemp("intact"), compression=request.param)
    journal.write(*BODIES[:20])
    reader = journal.open_reader()
    records = drain(reader)
    reader.commit(records[2].next_position)
    reader.commit(records[5].next_position)
    reader.close()
    journal.write(*BODIES[20:])
    assert len(journal.segment_paths()) >= 4
    return journal.directory


def flip(content: bytearray, random: Random) -> bytearray:
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return content


def truncate(content: bytearray, random: Random) -> bytearray:
    return content[: random.randrange(len(content))]


def overwrite(content: bytearray, random: Random) -> bytearray:
    start = random.randrange(len(content))
    length = random.randint(1, len(content) - start)
    content[start : start + length] = random.choice((bytes(length), random.randbytes(length)))
    return content


def move(content: bytearray, random: Random) -> bytearray:
    """Bytes of the file appear again at another place, as from a misdirected write."""
    length = random.randint(1, len(content) // 2)
    source, target = (random.randrange(len(content) - length + 1) for _ in range(2))
    content[target : target + length] = content[source : source + length]
    return content


def grow(content: bytearray, random: Random) -> bytearray:
    return content + random.choice((bytes(300), random.randbytes(300), content[-300:], content))


@pytest.mark.parametrize("damage", [flip, truncate, overwrite, move, grow], ids=lambda damage: damage.__name__)
def test_damage_is_passed_over_and_counted(intact, scratch, damage):
    directory = scratch / "journal"
    journal = Journal(directory)
    for seed in range(CASES):
        random = Random(seed)
        shutil.copytree(intact, directory)
        lost_before = journal.value("lost_records_total", cursor="evaluator")
        victims = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != "lock")
        victim = random.choice(victims)
        victim.write_bytes(damage(bytearray(victim.read_bytes()), random))

        early = journal.read_bodies() if random.random() < 0.3 else None
        journal.write(b"after")
        found = journal.read_bodies()

        lost = journal.value("lost_records_total", cursor="evaluator") - lost_before
        check(found, lost, damage=damage, victim=victim, read_twice=early is not None)
        assert early is None or is_part_of(early, BODIES)
        shutil.rmtree(directory)


def check(found: list[bytes], lost: float, *, damage, victim: Path, read_twice: bool):
    assert is_part_of(found, [*BODIES, b"after"])
    assert found[-1] == b"after"
    expected = BODIES[BODIES.index(found[0]) :] if victim.name == "evaluator" else BODIES[6:]
    missing = len(expected) - (len(found) - 1)
    if victim.suffix != ".segment" or damage is grow:
        assert missing == 0
    if damage is flip:
        assert missing <= 1
    # A reader that was there before the damage was cut off counts it as well.
    assert lost >= missing if read_twice else lost == missing


def is_part_of(found: list[bytes], whole: list[bytes]) -> bool:
    """In order, each at most once, nothing else."""
    rest = iter(whole)
    return all(body in rest for body in found)


def test_bodies_cannot_be_mixed_up():
    assert len(set(BODIES)) == len(BODIES)
    assert is_part_of([b"a", b"c"], [b"a", b"b", b"c"])
    assert not is_part_of([b"c", b"a"], [b"a", b"b", b"c"])
