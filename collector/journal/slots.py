"""A position that survives a torn write: two slots, written in turn, each with a sequence number and a check.

The valid slot with the higher sequence counts. A write goes to the slot that does not hold the last good value,
also after a failed write, so there is a valid value at every instant. Both slots have their space from the start:
moving a cursor needs no room on a full disk. Reads and writes may race between processes; a mixed read fails its
check.
"""

from __future__ import annotations

import contextlib
import struct
from dataclasses import dataclass
from pathlib import Path

import xxhash

from collector.journal.errors import JournalVersionError
from collector.journal.files import Files, write_all
from collector.journal.protocol import Position

_SLOT_VERSION = 1
_FIELDS = struct.Struct("<4sIQQQQQ")
_CHECK = struct.Struct("<Q")
_SLOT_BYTES = _FIELDS.size + _CHECK.size
_OFFSETS = (0, 4096)
"""Different blocks, so that one torn block cannot take both."""
_READ_TRIES = 3


@dataclass(frozen=True, slots=True)
class Slot:
    position: Position
    next_record_id: int
    """Id of the first record at or after the position; 0: not known."""
    written_ns: int
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class SlotState:
    slot: Slot | None
    damaged: int
    """Slots that were written and are not valid."""


class SlotFile:
    """`magic` tells one use from another. Not thread-safe."""

    def __init__(self, path: Path, *, magic: bytes, files: Files) -> None:
        self._path = path
        self._magic = magic
        self._files = files
        self._fd: int | None = None
        self._sequence = 0

    @property
    def fd(self) -> int | None:
        return self._fd

    def open_writable(self) -> None:
        """Open, creating it if it is missing; raises OSError."""
        if self._fd is not None:
            return
        try:
            self._fd = self._files.open(self._path, writable=True)
        except FileNotFoundError:
            self._fd = self._files.create(self._path)
        # A full disk is when readers are needed most: without the space the file serves all the same, until a store
        # finds none.
        with contextlib.suppress(OSError):
            self._take_space(self._fd)

    def open_readable(self) -> bool:
        """False where there is no file to read yet."""
        if self._fd is None:
            try:
                self._fd = self._files.open(self._path)
            except OSError:
                return False
        return True

    def load(self) -> SlotState:
        """Raises OSError, and JournalVersionError for a slot of a newer version."""
        assert self._fd is not None
        state = SlotState(slot=None, damaged=0)
        for _ in range(_READ_TRIES):
            state = self._load_once(self._fd)
            if not state.damaged:
                break
        if state.slot is not None:
            self._sequence = max(self._sequence, state.slot.sequence)
        return state

    def store(self, slot: Slot, *, sync: bool) -> None:
        """Raises OSError; the last good value is still there then."""
        assert self._fd is not None
        sequence = self._sequence + 1
        fields = _FIELDS.pack(
            self._magic,
            _SLOT_VERSION,
            sequence,
            slot.position.segment,
            slot.position.offset,
            slot.next_record_id,
            slot.written_ns,
        )
        data = fields + _CHECK.pack(xxhash.xxh3_64_intdigest(fields))
        write_all(self._files, self._fd, [data], offset=_OFFSETS[sequence % 2])
        if sync:
            self._files.fdatasync(self._fd)
        self._sequence = sequence

    def close(self) -> None:
        if self._fd is not None:
            self._files.close(self._fd)
            self._fd = None

    def _take_space(self, fd: int) -> None:
        size = self._files.size(fd)
        missing = _OFFSETS[-1] + _SLOT_BYTES - size
        if missing > 0:
            write_all(self._files, fd, [bytes(missing)], offset=size)
            self._files.fdatasync(fd)
            self._files.sync_directory(self._path.parent)

    def _load_once(self, fd: int) -> SlotState:
        newest: Slot | None = None
        damaged = 0
        for offset in _OFFSETS:
            data = self._files.pread(fd, _SLOT_BYTES, offset)
            if not any(data):
                continue
            slot = self._unpack(data)
            if slot is None:
                damaged += 1
            elif newest is None or slot.sequence > newest.sequence:
                newest = slot
        return SlotState(slot=newest, damaged=damaged)

    def _unpack(self, data: bytes) -> Slot | None:
        if len(data) < _SLOT_BYTES or not data.startswith(self._magic):
            return None
        (check,) = _CHECK.unpack_from(data, _FIELDS.size)
        if check != xxhash.xxh3_64_intdigest(data[: _FIELDS.size]):
            return None
        _, version, sequence, segment, offset, next_record_id, written_ns = _FIELDS.unpack_from(data)
        if version > _SLOT_VERSION:
            raise JournalVersionError(
                f"Journal file {self._path} has format version {version} and this Adhere reads up to {_SLOT_VERSION}; "
                "it was left as it is: run the newer Adhere, or move the file away."
            )
        return Slot(
            position=Position(segment, offset),
            next_record_id=next_record_id,
            written_ns=written_ns,
            sequence=sequence,
        )
