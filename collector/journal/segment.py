"""A segment file: a header of 1 KiB, then records. Numbers only grow and are never used twice.

The header stands twice, in two disk sectors, since the records cannot be checked without its salt:

    magic 8 | format version 4 | length 4 | number 8 | first record id 8 | salt 8 | created_ns 8 | check 8

Magic, version, length and a last-8-bytes check stay in every future version, so that an older Adhere can tell a newer
file (which it refuses and leaves alone) from a damaged one (which it sets aside).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

import xxhash

from collector.journal.errors import JournalVersionError
from collector.journal.files import Files
from collector.journal.record import RecordCodec

SEGMENT_VERSION = 1
SEGMENT_HEADER_BYTES = 1024
_COPY_OFFSETS = (0, 512)
_MAX_COPY_BYTES = 512

_MAGIC = b"ADHEREJ\n"
_FIELDS = struct.Struct("<8sIIQQQQ")
_CHECK = struct.Struct("<Q")
_COPY_BYTES = _FIELDS.size + _CHECK.size
_NAME = re.compile(r"(\d{20})\.segment", re.ASCII)
_NUMBERS_END = 1 << 63


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    number: int
    first_record_id: int
    salt: int
    created_ns: int

    @property
    def codec(self) -> RecordCodec:
        return RecordCodec(self.salt)

    def pack(self) -> bytes:
        fields = _FIELDS.pack(
            _MAGIC, SEGMENT_VERSION, _COPY_BYTES, self.number, self.first_record_id, self.salt, self.created_ns
        )
        copy = fields + _CHECK.pack(xxhash.xxh3_64_intdigest(fields))
        return b"".join(copy.ljust(_MAX_COPY_BYTES, b"\0") for _ in _COPY_OFFSETS)


def segment_path(directory: Path, number: int) -> Path:
    return directory / f"{number:020d}.segment"


def segment_number(name: str) -> int | None:
    """None for a name that is not ours, or has a number that no position could hold."""
    match = _NAME.match(name)
    number = int(match[1]) if match else _NUMBERS_END
    return number if number < _NUMBERS_END else None


def list_segments(directory: Path) -> list[int]:
    """Numbers in growing order; a missing directory has none."""
    try:
        names = [entry.name for entry in directory.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(number for name in names if _NAME.fullmatch(name) and (number := segment_number(name)) is not None)


def read_segment_header(files: Files, fd: int, *, path: Path) -> SegmentHeader | None:
    """None where neither copy is valid or the file has another segment's header. Raises JournalVersionError."""
    data = files.pread(fd, SEGMENT_HEADER_BYTES, 0)
    for offset in _COPY_OFFSETS:
        header = _unpack(data[offset : offset + _MAX_COPY_BYTES], path=path)
        if header is not None and header.number == segment_number(path.name):
            return header
    return None


def _unpack(copy: bytes, *, path: Path) -> SegmentHeader | None:
    if len(copy) < _COPY_BYTES or not copy.startswith(_MAGIC):
        return None
    version, length = struct.unpack_from("<II", copy, len(_MAGIC))
    if not _CHECK.size + len(_MAGIC) + 8 <= length <= len(copy):
        return None
    (check,) = _CHECK.unpack_from(copy, length - _CHECK.size)
    if check != xxhash.xxh3_64_intdigest(copy[: length - _CHECK.size]):
        return None
    if version > SEGMENT_VERSION:
        raise JournalVersionError(
            f"Journal file {path} has format version {version} and this Adhere reads up to {SEGMENT_VERSION}; "
            "it was left as it is: run the newer Adhere until its cursors have passed the file, or move the file away."
        )
    if version != SEGMENT_VERSION or length != _COPY_BYTES:
        return None
    _, _, _, number, first_record_id, salt, created_ns = _FIELDS.unpack_from(copy)
    return SegmentHeader(number=number, first_record_id=first_record_id, salt=salt, created_ns=created_ns)
