"""The segment that is being written: records go to its end, and what was not synced can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.journal.compression import GroupCompression
from collector.journal.files import Buffer, Files, write_all
from collector.journal.protocol import Position
from collector.journal.record import RECORD_HEADER_BYTES
from collector.journal.segment import SEGMENT_HEADER_BYTES, SegmentHeader, segment_path
from collector.telemetry.records import Signal


@dataclass(frozen=True, slots=True)
class Entry:
    """What is appended."""

    signal: Signal
    body: bytes
    received_ns: int

    @property
    def max_stored_bytes(self) -> int:
        return RECORD_HEADER_BYTES + len(self.body)


@dataclass(frozen=True, slots=True)
class PackedGroup:
    """One group in the form it has on disk at its place."""

    buffers: Sequence[Buffer]
    positions: Sequence[Position]
    raw_bytes: int
    stored_bytes: int


class OpenSegment:
    def __init__(self, header: SegmentHeader, *, path: Path, fd: int, files: Files) -> None:
        self.header = header
        self.path = path
        self.end = SEGMENT_HEADER_BYTES
        """After the last record that was written whole."""
        self.synced_end = SEGMENT_HEADER_BYTES
        self.next_record_id = header.first_record_id
        self.synced_next_record_id = header.first_record_id
        self._codec = header.codec
        self._fd = fd
        self._files = files

    @classmethod
    def create(cls, directory: Path, header: SegmentHeader, *, files: Files) -> OpenSegment:
        """Its name and its header are durable on return. Raises OSError, and then leaves no file if it can."""
        path = segment_path(directory, header.number)
        fd = files.create(path)
        try:
            write_all(files, fd, [header.pack()], offset=0)
            files.fdatasync(fd)
            files.sync_directory(directory)
        except OSError:
            files.close(fd)
            files.unlink(path)
            raise
        return cls(header, path=path, fd=fd, files=files)

    @property
    def has_records(self) -> bool:
        return self.end > SEGMENT_HEADER_BYTES

    def pack(self, entries: Sequence[Entry], *, compression: GroupCompression | None) -> PackedGroup:
        buffers: list[Buffer] = []
        positions: list[Position] = []
        offset = self.end
        raw_bytes = 0
        record_id = self.next_record_id
        for entry in entries:
            smaller = compression.compress(entry.body) if compression is not None else None
            payload = entry.body if smaller is None else smaller
            header = self._codec.pack(
                payload,
                offset=offset,
                record_id=record_id,
                signal=entry.signal,
                received_ns=entry.received_ns,
                raw_bytes=len(entry.body),
                compressed=smaller is not None,
            )
            buffers.append(header)
            buffers.append(payload)
            positions.append(Position(self.header.number, offset))
            offset += len(header) + len(payload)
            raw_bytes += len(entry.body)
            record_id += 1
        return PackedGroup(buffers=buffers, positions=positions, raw_bytes=raw_bytes, stored_bytes=offset - self.end)

    def write(self, group: PackedGroup) -> None:
        """Raises OSError; `take_back` or give up the segment then."""
        self.end = write_all(self._files, self._fd, group.buffers, offset=self.end)
        self.next_record_id += len(group.positions)

    def sync(self) -> None:
        """Raises OSError, after which no later sync of this file proves anything: give the segment up."""
        self._files.fdatasync(self._fd)
        self.synced_end = self.end
        self.synced_next_record_id = self.next_record_id

    def take_back(self) -> None:
        """Cut what a failed write left after the last whole record."""
        self._files.truncate(self._fd, self.end)

    def give_up(self, *, keep_unsynced: bool) -> None:
        """Close for good; `end` is the file's end as far as is known. Never raises."""
        try:
            if not keep_unsynced:
                self.end = self.synced_end
                self.next_record_id = self.synced_next_record_id
            self._files.truncate(self._fd, self.end)
            if keep_unsynced:
                self._files.fdatasync(self._fd)
        except OSError:
            # Readers may then meet records that were never acknowledged, or a torn end: both are safe.
            pass
        self.close()

    def close(self) -> None:
        self._files.close(self._fd)
