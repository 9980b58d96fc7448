"""Finds one record's header by position, for the id a cursor keeps and for the age of what is unread."""

from __future__ import annotations

from pathlib import Path

from collector.journal.files import Files
from collector.journal.protocol import Position
from collector.journal.record import RECORD_HEADER_BYTES, RecordHeader
from collector.journal.segment import SEGMENT_HEADER_BYTES, list_segments, read_segment_header, segment_path


def find_record(directory: Path, position: Position, *, files: Files) -> RecordHeader | None:
    """The first record at or after a record boundary; None where there is none or it cannot be read."""
    for number in list_segments(directory):
        if number < position.segment:
            continue
        offset = position.offset if number == position.segment else 0
        try:
            header, size = _record_at(segment_path(directory, number), max(offset, SEGMENT_HEADER_BYTES), files=files)
        except OSError:
            return None
        if header is not None or size > offset:
            return header
    return None


def _record_at(path: Path, offset: int, *, files: Files) -> tuple[RecordHeader | None, int]:
    """The header, and the file's size (0 where there is nothing from the offset on)."""
    fd = files.open(path)
    try:
        size = files.size(fd)
        if offset >= size:
            return None, 0
        segment = read_segment_header(files, fd, path=path)
        if segment is None:
            return None, size
        return segment.codec.unpack(files.pread(fd, RECORD_HEADER_BYTES, offset), offset=offset), size
    finally:
        files.close(fd)
