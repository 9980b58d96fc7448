"""Walks the records of one segment and names what is damaged, for the reader and for recovery alike.

Never raises for what the file holds or for sectors that cannot be read: each step gives a record, or a damaged
stretch and where reading resumes, or None at the end. Memory is one window, or one record where that is larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from collector.journal.files import Buffer, Files
from collector.journal.record import RECORD_HEADER_BYTES, RecordHeader
from collector.journal.segment import SegmentHeader

DamageReason: TypeAlias = Literal["header", "payload", "tail", "segment_header", "unreadable"]

_WINDOW_BYTES = 1024 * 1024
_SECTOR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class FoundRecord:
    header: RecordHeader
    offset: int
    next_offset: int
    payload: Buffer
    """As stored; valid until the next step."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes from `start` to `end` hold no readable record."""

    start: int
    end: int
    reason: DamageReason


class SegmentScan:
    """Borrows the descriptor; does not close it."""

    def __init__(self, fd: int, header: SegmentHeader, *, files: Files) -> None:
        self._fd = fd
        self._files = files
        self._codec = header.codec
        self._key = self._codec.search_key
        self._window = b""
        self._window_start = 0

    def step(self, offset: int, *, end: int) -> FoundRecord | Damage | None:
        """What is at `offset`, reading nothing from `end` on."""
        if offset >= end:
            return None
        try:
            return self._record_at(offset, end)
        except OSError:
            return self._unreadable(offset, end)

    def _record_at(self, offset: int, end: int) -> FoundRecord | Damage:
        head = self._at(offset, RECORD_HEADER_BYTES, end)
        header = self._codec.unpack(head, offset=offset)
        if header is None:
            return self._resume(offset, end, "header")
        payload_offset = offset + RECORD_HEADER_BYTES
        next_offset = payload_offset + header.stored_bytes
        payload = self._at(payload_offset, header.stored_bytes, end) if next_offset <= end else b""
        if len(payload) < header.stored_bytes:
            return self._resume(offset, end, "tail")
        if not self._codec.is_intact(header, payload):
            return Damage(offset, next_offset, "payload")
        return FoundRecord(header=header, offset=offset, next_offset=next_offset, payload=payload)

    def _resume(self, offset: int, end: int, reason: DamageReason) -> Damage:
        found = self._find_header(offset + 1, end)
        if found is None:
            return Damage(offset, end, "tail")
        return Damage(offset, found, reason)

    def _unreadable(self, offset: int, end: int) -> Damage:
        """Step over one bad sector and look for the next header after it."""
        found = self._find_header(_sector_end(offset), end)
        return Damage(offset, end if found is None else found, "unreadable")

    def _find_header(self, start: int, end: int) -> int | None:
        position = start
        while position + RECORD_HEADER_BYTES <= end:
            try:
                data = self._files.pread(self._fd, min(_WINDOW_BYTES, end - position), position)
                # A key may lie across two windows.
                after = position + len(data) - len(self._key) + 1
            except OSError:
                after = _sector_end(position)
                data = self._sector(position, min(after, end))
            found = self._header_in(data, position, end)
            if found is not None:
                return found
            if after <= position:
                return None
            position = after
        return None

    def _sector(self, start: int, end: int) -> bytes:
        """One sector, with the start of the next where that can be read; empty where it is bad."""
        for overlap in (len(self._key), 0):
            try:
                return self._files.pread(self._fd, end - start + overlap, start)
            except OSError:
                continue
        return b""

    def _header_in(self, data: bytes, position: int, end: int) -> int | None:
        index = data.find(self._key)
        while index >= 0:
            offset = position + index
            try:
                head = self._at(offset, RECORD_HEADER_BYTES, end)
            except OSError:
                head = b""
            if self._codec.unpack(head, offset=offset) is not None:
                return offset
            index = data.find(self._key, index + 1)
        return None

    def _at(self, offset: int, length: int, end: int) -> Buffer:
        """`length` bytes, or fewer where `end` or the file ends first."""
        length = min(length, end - offset)
        skip = offset - self._window_start
        if skip < 0 or skip + length > len(self._window):
            self._fill(offset, length, end)
            skip = 0
        return memoryview(self._window)[skip : skip + length]

    def _fill(self, offset: int, length: int, end: int) -> None:
        self._window = b""
        self._window_start = offset
        try:
            self._window = self._files.pread(self._fd, min(max(length, _WINDOW_BYTES), end - offset), offset)
        except OSError:
            # A bad sector somewhere in the window does not matter while the wanted bytes can be read.
            self._window = self._files.pread(self._fd, length, offset)
        while len(self._window) < length:
            more = self._files.pread(self._fd, length - len(self._window), offset + len(self._window))
            if not more:
                break
            self._window += more


def _sector_end(offset: int) -> int:
    return offset - offset % _SECTOR_BYTES + _SECTOR_BYTES
