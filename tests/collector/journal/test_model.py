"""Any order of appends, reads, commits, restarts, kills, power cuts, refusals and damage, against a model in memory.

The model: acknowledged bodies in order, those that damage may have cost, those whose append was refused, and each
cursor's place. The claim: a reader gets every acknowledged body after its last commit, once and in order, except
damaged ones; and nothing else but what was refused after it had reached the disk, which a power cut may bring back
(`give_up` in `open_segment.py`: the client was told to send it again, and a repeated span changes nothing).
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from collector.errors import JournalFullError, JournalUnavailableError
from collector.journal.open_segment import Entry
from collector.journal.protocol import Position
from collector.journal.record import RECORD_HEADER_BYTES
from collector.journal.segment import SEGMENT_HEADER_BYTES, segment_path
from collector.telemetry.records import Signal
from tests.collector.journal.journals import Journal, drain
from tests.collector.journal.scratch import scratch_directory
from tests.support.power_cut_files import PowerCutFiles

NAMES = ("evaluator", "relay")
MAX_BYTES = 24 * 1024
SEGMENT_BYTES = 3000


class RefusingFiles(PowerCutFiles):
    """Also fails the next write, half-way, or the next sync of a segment."""

    def __init__(self, directory):
        super().__init__(directory)
        self.fail_next: str | None = None

    def pwritev(self, fd, buffers, offset):
        if self.fail_next == "write" and self._names[fd].endswith(".segment"):
            self.fail_next = None
            data = b"".join(buffers)
            super().pwritev(fd, [data[: len(data) // 2]], offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().pwritev(fd, buffers, offset)

    def fdatasync(self, fd):
        if self.fail_next == "sync" and self._names[fd].endswith(".segment"):
            self.fail_next = None
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().fdatasync(fd)


class JournalMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.scratch = scratch_directory()
        self.root = self.scratch.__enter__()
        self.directories = 0
        self.bodies: list[bytes] = []
        self.positions: list[Position] = []
        self.names = 0
        self.refused: set[bytes] = set()
        self.costly: set[int] = set()
        """Bodies that damage may have cost."""
        self.committed = dict.fromkeys(NAMES, 0)
        self.read = dict.fromkeys(NAMES, 0)
        self.power_was_cut = False
        self.open(self.root / "0")

    def open(self, directory: Path):
        self.directory = directory
        self.files = RefusingFiles(directory)
        self.files.adopt()
        self.journal = Journal(
            directory, files=self.files, cursors=NAMES, max_bytes=MAX_BYTES, segment_bytes=SEGMENT_BYTES
        )
        self.log = self.journal.open_log()
        self.readers = {name: self.journal.open_reader(name) for name in NAMES}
        self.last_records = dict.fromkeys(NAMES)
        self.read = dict(self.committed)

    def shut(self):
        for reader in self.readers.values():
            reader.close()
        self.log.close()

    @rule(sizes=st.lists(st.sampled_from([0, 1, 40, 300, 900, 2500]), min_size=1, max_size=4))
    def append(self, sizes):
        entries = [
            Entry(signal=Signal.TRACES, body=b"%d|" % (self.names + index) + bytes(size), received_ns=1)
            for index, size in enumerate(sizes)
        ]
        self.names += len(sizes)
        is_refused = self.files.fail_next is not None
        try:
            positions = self.log.append(entries)
        except JournalFullError:
            needed = sum(entry.max_stored_bytes for entry in entries)
            assert self.log.disk_bytes + needed > MAX_BYTES - 1100
        except JournalUnavailableError:
            assert is_refused
            self.refused |= {entry.body for entry in entries}
        else:
            assert list(positions) == sorted(positions)
            assert not self.positions or positions[0] > self.positions[-1]
            self.bodies += [entry.body for entry in entries]
            self.positions += positions

    @rule(name=st.sampled_from(NAMES), max_bytes=st.sampled_from([1, 700, 5000]))
    def read_some(self, name, max_bytes):
        records = self.readers[name].read(max_bytes=max_bytes)
        for record in records:
            self.step(name, record.body)
        if not records:
            assert self.still_owed(self.read[name]) == []
            self.read[name] = len(self.bodies)
        else:
            self.last_records[name] = records[-1]

    def step(self, name, body):
        if body in self.refused:
            assert self.power_was_cut
            return
        index = self.bodies.index(body)
        assert index >= self.read[name]
        assert set(range(self.read[name], index)) <= self.costly
        self.read[name] = index + 1

    def still_owed(self, first):
        return [body for index, body in enumerate(self.bodies) if index >= first and index not in self.costly]

    @rule(name=st.sampled_from(NAMES))
    def commit(self, name):
        record = self.last_records[name]
        if record is not None and record.body not in self.refused:
            self.readers[name].commit(record.next_position)
            self.committed[name] = max(self.committed[name], self.bodies.index(record.body) + 1)

    @rule()
    def collect(self):
        self.log.collect()

    @rule(operation=st.sampled_from(["write", "sync"]))
    def let_the_disk_refuse(self, operation):
        self.files.fail_next = operation

    @rule()
    def restart(self):
        self.files.fail_next = None
        self.shut()
        self.open(self.directory)

    @rule()
    def kill(self):
        self.move_on(lambda target: shutil.copytree(self.directory, target))

    @rule(seed=st.integers(0, 2**32))
    def cut_the_power(self, seed):
        self.power_was_cut = True
        random = Random(seed)
        operations = len(self.files.log)
        self.move_on(lambda target: self.files.rebuild(target, operations=operations, random=random))

    def move_on(self, copy):
        self.directories += 1
        target = self.root / str(self.directories)
        copy(target)
        self.files.fail_next = None
        self.shut()
        self.open(target)

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), bit=st.integers(0, 7))
    def damage_a_record(self, data, bit):
        index = data.draw(st.integers(0, len(self.bodies) - 1))
        path = segment_path(self.directory, self.positions[index].segment)
        if not path.exists():
            return
        at = data.draw(st.integers(0, RECORD_HEADER_BYTES + len(self.bodies[index]) - 1))
        offset = self.positions[index].offset + at
        if offset >= path.stat().st_size:
            return
        fd = self.files.open(path, writable=True)
        (byte,) = self.files.pread(fd, 1, offset)
        PowerCutFiles.pwritev(self.files, fd, [bytes([byte ^ (1 << bit)])], offset)
        PowerCutFiles.fdatasync(self.files, fd)
        self.files.close(fd)
        self.costly.add(index)

    @rule()
    def take_a_finished_segment_away(self):
        paths = self.journal.segment_paths()
        if len(paths) < 3:
            return
        self.files.unlink(paths[1])
        gone = int(paths[1].name.removesuffix(".segment"))
        self.costly |= {index for index, position in enumerate(self.positions) if position.segment == gone}

    @invariant()
    def the_bound_is_kept(self):
        if hasattr(self, "log"):
            # A restart of a full journal adds one empty segment.
            on_disk = sum(path.stat().st_size for path in self.journal.segment_paths())
            assert on_disk <= MAX_BYTES + SEGMENT_HEADER_BYTES

    def teardown(self):
        if not hasattr(self, "log"):
            return
        try:
            self.files.fail_next = None
            self.shut()
            self.open(self.directory)
            for name in NAMES:
                for record in drain(self.readers[name]):
                    self.step(name, record.body)
                assert self.still_owed(self.read[name]) == []
        finally:
            self.shut()
            self.scratch.__exit__(None, None, None)


TestJournalModel = JournalMachine.TestCase
TestJournalModel.settings = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
