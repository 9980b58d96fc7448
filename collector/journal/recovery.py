"""Opens what an earlier writer left, whatever state it is in.

Only the newest segment is read through: every earlier one was synced before its successor was made, so its header
is all that is looked at, and a full journal opens as fast as an empty one. What cannot be a segment is moved aside;
an unfinished end is copied aside and cut off; damage in the middle is left to the readers, who step over it and
count it. The one thing that stops a start is an intact file of a newer version, and then nothing has been changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import structlog

from collector.journal.aside import Aside
from collector.journal.cursor import list_cursors, peek_cursor
from collector.journal.errors import JournalVersionError
from collector.journal.files import Files
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import Position
from collector.journal.scan import FoundRecord, SegmentScan
from collector.journal.segment import (
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    list_segments,
    read_segment_header,
    segment_number,
    segment_path,
)
from collector.journal.slots import Slot

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RecoveredJournal:
    sizes: dict[int, int]
    """Bytes of each finished segment, by number."""
    end: Position
    """After the last record."""
    next_segment: int
    next_record_id: int


@dataclass(frozen=True, slots=True)
class _Unusable:
    path: Path
    reason: str
    size: int


def recover(
    directory: Path, *, mark: Slot | None, files: Files, metrics: JournalMetrics, aside: Aside
) -> RecoveredJournal:
    """The directory is locked by the caller. Raises JournalVersionError, and OSError where it cannot be listed."""
    headers: dict[int, SegmentHeader] = {}
    sizes: dict[int, int] = {}
    unusable: list[_Unusable] = []
    numbers = list_segments(directory)
    for number in numbers:
        found = _look_at(directory, number, files=files)
        if isinstance(found, _Unusable):
            unusable.append(found)
        else:
            headers[number], sizes[number] = found
    for file in unusable:
        metrics.corrupt.labels(file.reason).inc()
        metrics.corrupt_bytes.labels(file.reason).inc(file.size)
        aside.move(file.path, reason=file.reason)

    last_end = 0
    next_record_id = 1
    if headers:
        newest = max(headers)
        last_end, next_record_id = _finish(
            directory, headers[newest], mark=mark, files=files, metrics=metrics, aside=aside
        )
        sizes[newest] = last_end
        _forget_if_empty(directory, newest, sizes, files=files)
    newest_left = max(sizes, default=0)
    return RecoveredJournal(
        sizes=sizes,
        end=Position(newest_left, sizes.get(newest_left, 0)),
        next_segment=_next_number(directory, numbers, mark=mark, files=files, aside=aside),
        next_record_id=max(next_record_id, mark.next_record_id if mark else 1),
    )


def _look_at(directory: Path, number: int, *, files: Files) -> tuple[SegmentHeader, int] | _Unusable:
    path = segment_path(directory, number)
    try:
        fd = files.open(path)
    except OSError:
        return _Unusable(path=path, reason="not_readable", size=0)
    try:
        size = files.size(fd)
        if size == 0:
            return _Unusable(path=path, reason="empty", size=0)
        header = read_segment_header(files, fd, path=path)
    except OSError:
        return _Unusable(path=path, reason="not_readable", size=0)
    finally:
        files.close(fd)
    if header is None:
        return _Unusable(path=path, reason="segment_header", size=size)
    return header, size


def _finish(
    directory: Path,
    header: SegmentHeader,
    *,
    mark: Slot | None,
    files: Files,
    metrics: JournalMetrics,
    aside: Aside,
) -> tuple[int, int]:
    """Walk the newest segment, cut off its unfinished end and sync it; its end and the next record id."""
    path = segment_path(directory, header.number)
    fd = files.open(path)
    try:
        size = files.size(fd)
        end, next_record_id = _walk(fd, header, size, files=files)
        if end < size:
            metrics.torn_tails.inc()
            aside.copy(fd, segment=header.number, start=end, end=size)
            log.warning("journal tail cut", segment=header.number, offset=end, bytes=size - end)
    finally:
        files.close(fd)
    if mark is not None and mark.next_record_id > next_record_id:
        metrics.corrupt.labels("durable_tail").inc()
        log.error(
            "journal lost synced records",
            segment=header.number,
            offset=end,
            records=mark.next_record_id - next_record_id,
        )
    return _cut(path, end, size, files=files), next_record_id


def _walk(fd: int, header: SegmentHeader, size: int, *, files: Files) -> tuple[int, int]:
    scan = SegmentScan(fd, header, files=files)
    offset = SEGMENT_HEADER_BYTES
    end = SEGMENT_HEADER_BYTES
    next_record_id = header.first_record_id
    while (step := scan.step(offset, end=size)) is not None:
        if isinstance(step, FoundRecord):
            offset = end = step.next_offset
            next_record_id = step.header.record_id + 1
        else:
            offset = step.end
    return end, next_record_id


def _cut(path: Path, end: int, size: int, *, files: Files) -> int:
    """Truncate and sync. A file that may not be written keeps its end; readers step over it."""
    try:
        fd = files.open(path, writable=True)
    except OSError as err:
        log.warning("journal segment left as it is", path=str(path), error=str(err))
        return size
    try:
        if end < size:
            files.truncate(fd, end)
        # What a killed writer left in the page cache must be on disk before readers are told of it.
        files.fdatasync(fd)
    except OSError as err:
        log.warning("journal segment left as it is", path=str(path), error=str(err))
        return files.size(fd)
    finally:
        files.close(fd)
    return end


def _forget_if_empty(directory: Path, number: int, sizes: dict[int, int], *, files: Files) -> None:
    if sizes[number] > SEGMENT_HEADER_BYTES:
        return
    try:
        files.unlink(segment_path(directory, number))
    except OSError:
        return
    del sizes[number]


def _next_number(directory: Path, numbers: list[int], *, mark: Slot | None, files: Files, aside: Aside) -> int:
    """Above every number that a cursor may know."""
    seen = [0, *numbers]
    if mark is not None:
        seen.append(mark.position.segment)
    seen.extend(number for name in aside.names() if (number := segment_number(name)) is not None)
    for name in list_cursors(directory):
        try:
            seen.append(peek_cursor(directory, name, files=files).segment)
        except JournalVersionError:
            log.warning("journal cursor of a newer version ignored", cursor=name)
    return max(seen) + 1
