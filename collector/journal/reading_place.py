"""Where a reader is: a position, the open segment under it, and the way on to the next segment."""

from __future__ import annotations

from pathlib import Path

from collector.journal.aside import Aside
from collector.journal.files import Files
from collector.journal.protocol import Position
from collector.journal.scan import Damage, FoundRecord, SegmentScan
from collector.journal.segment import SEGMENT_HEADER_BYTES, list_segments, read_segment_header, segment_path


class ReadingPlace:
    def __init__(self, directory: Path, position: Position, *, files: Files) -> None:
        self._directory = directory
        self._files = files
        self._position = position
        self._fd: int | None = None
        self._scan: SegmentScan | None = None
        """None with an open file: its header cannot be read."""
        self._first_record_id = 0

    @property
    def position(self) -> Position:
        return self._position

    @property
    def first_record_id(self) -> int:
        """The id that the first record at the position must have, where it is the start of a segment; 0: not known."""
        return self._first_record_id if self._position.offset == SEGMENT_HEADER_BYTES else 0

    def step(self, limit: Position) -> FoundRecord | Damage | None:
        """What is at the position, on the way moving to the next segment; None at the limit. Does not move past it.

        Raises JournalVersionError.
        """
        while self._position < limit:
            end = self._end_here(limit) if self._is_open() else 0
            if self._position.offset < end:
                return self._step_here(end)
            if self._position.segment == limit.segment or not self._move_to_next(limit):
                return None
        return None

    def move_to(self, offset: int) -> None:
        """Within the segment."""
        self._position = Position(self._position.segment, offset)

    def copy_aside(self, damage: Damage, aside: Aside) -> None:
        if self._fd is not None:
            aside.copy(self._fd, segment=self._position.segment, start=damage.start, end=damage.end)

    def close(self) -> None:
        if self._fd is not None:
            self._files.close(self._fd)
        self._fd = None
        self._scan = None
        self._first_record_id = 0

    def _step_here(self, end: int) -> FoundRecord | Damage | None:
        if self._scan is None:
            return Damage(self._position.offset, end, "segment_header")
        return self._scan.step(self._position.offset, end=end)

    def _end_here(self, limit: Position) -> int:
        if self._position.segment == limit.segment:
            return limit.offset
        assert self._fd is not None
        try:
            return self._files.size(self._fd)
        except OSError:
            return 0

    def _is_open(self) -> bool:
        if self._scan is not None:
            return True
        self.close()
        path = segment_path(self._directory, self._position.segment)
        try:
            self._fd = self._files.open(path)
            header = read_segment_header(self._files, self._fd, path=path)
        except OSError:
            return self._fd is not None
        if header is not None:
            self._scan = SegmentScan(self._fd, header, files=self._files)
            self._first_record_id = header.first_record_id
            self.move_to(max(self._position.offset, SEGMENT_HEADER_BYTES))
        return True

    def _move_to_next(self, limit: Position) -> bool:
        number = next(
            (number for number in list_segments(self._directory) if self._position.segment < number <= limit.segment),
            None,
        )
        if number is None:
            return False
        self.close()
        self._position = Position(number, 0)
        return True
