"""kill -9 under load at seeded instants: everything that was acknowledged is found, intact, by the next process."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from collector.journal.files import OsFiles
from tests.collector.journal.append_under_load import ENDED, STARTED, make_body, number_of
from tests.collector.journal.journals import Journal, drain

ROOT = Path(__file__).resolve().parents[3]
JOURNALS = 4
ROUNDS = 5
"""Each journal is killed this often: what is recovered was recovered before."""
LIMIT_S = 30.0


class Nursery:
    """Starts appending processes, kills them, and takes down what they acknowledged."""

    def __init__(self):
        self.acknowledged: list[int] = []
        self._pid: int | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.collector.journal.append_under_load"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def start(self, directory: Path, *, seed: int) -> None:
        """Returns with the first acknowledgement."""
        self.kill()  # One that a failed test left.
        self.acknowledged = []
        self._process.stdin.write(f"{directory} {seed} evaluator\n".encode())
        self._take_until(lambda: self.acknowledged and self._pid)

    def take(self, *, count: int) -> None:
        """So many acknowledgements more."""
        enough = len(self.acknowledged) + count
        self._take_until(lambda: len(self.acknowledged) >= enough)

    def kill(self) -> None:
        """What the process managed to say before it died is an obligation as well."""
        if self._pid is not None:
            os.kill(self._pid, signal.SIGKILL)
            self._take_until(lambda: self._pid is None)

    def close(self) -> None:
        self.kill()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=LIMIT_S)

    def _take_until(self, is_enough: Callable[[], object]) -> None:
        started_s = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not is_enough():
                assert time.monotonic() - started_s < LIMIT_S
                if selector.select(timeout=0.01):
                    self._take()

    def _take(self) -> None:
        data = self._process.stdout.read(8)
        assert len(data) == 8
        number = int.from_bytes(data, "little")
        if number & STARTED:
            self._pid = number - STARTED
        elif number & ENDED:
            self._pid = None
        else:
            self.acknowledged.append(number)


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.mark.parametrize("journal_seed", range(JOURNALS))
def test_twenty_kills_under_load_lose_nothing(tmp_path, nursery, journal_seed):
    random = Random(journal_seed)
    owed: list[int] = []
    for round_ in range(ROUNDS):
        nursery.start(tmp_path / "journal", seed=1 + journal_seed * ROUNDS + round_)
        nursery.take(count=random.randrange(1, 300))
        nursery.kill()
        owed += nursery.acknowledged

    journal = Journal(tmp_path / "journal", max_bytes=200_000_000)
    journal.open_log().close()
    found = journal.read_bodies()

    assert len(owed) > ROUNDS
    numbers = [number_of(body) for body in found]
    assert set(owed) <= set(numbers)
    assert len(set(numbers)) == len(numbers)
    assert all(body == make_body(number_of(body)) for body in found)
    assert journal.total("lost_records_total") == 0
    assert journal.total("corrupt_total") == 0


def test_another_process_reads_and_commits_what_this_one_writes(tmp_path, nursery):
    journal = Journal(tmp_path / "journal", files=OsFiles(), max_bytes=200_000_000)
    nursery.start(journal.directory, seed=1)
    reader = journal.open_reader()
    found: list[int] = []

    for _ in range(10):
        nursery.take(count=50)
        assert reader.wait(timeout_s=LIMIT_S)
        records = drain(reader, max_bytes=1_000_000)
        found += [number_of(record.body) for record in records]
        if records:  # The drain before may have read all of these already, ahead of their acknowledgements.
            reader.commit(records[-1].next_position)
        # What is acknowledged can be read at once.
        assert set(nursery.acknowledged) <= set(found)
    nursery.kill()
    found += [number_of(record.body) for record in drain(reader)]
    reader.close()

    assert set(nursery.acknowledged) <= set(found)
    assert len(set(found)) == len(found)
