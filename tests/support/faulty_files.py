"""File operations on a disk that can be full, or fail: real files, and OSError where the test asks for it."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from collector.journal.files import Buffer
from tests.support.unsynced_files import UnsyncedFiles


class FaultyFiles(UnsyncedFiles):
    def __init__(self) -> None:
        super().__init__()
        self.space_bytes: int | None = None
        """What may still be written beyond the ends of files; None: all that is asked for."""
        self.failing: dict[str, int] = {}
        """errno by name of the operation, for as long as it is there."""
        self.bad_ranges: list[tuple[int, int]] = []
        """Reads that touch one of these ranges of any file fail with EIO."""
        self.max_write_bytes: int | None = None
        """One write takes no more than this."""

    def create(self, path: Path) -> int:
        self._fail("create")
        return super().create(path)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        if any(offset < end and start < offset + length for start, end in self.bad_ranges):
            raise _error(errno.EIO)
        return super().pread(fd, length, offset)

    def pwritev(self, fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        self._fail("write")
        data = b"".join(buffers)
        if self.max_write_bytes is not None:
            data = data[: self.max_write_bytes]
        if self.space_bytes is not None:
            growth = max(0, offset + len(data) - os.fstat(fd).st_size)
            if growth and self.space_bytes == 0:
                raise _error(errno.ENOSPC)
            data = data[: len(data) - max(0, growth - self.space_bytes)]
            self.space_bytes -= min(growth, self.space_bytes)
        return os.pwrite(fd, data, offset)

    def truncate(self, fd: int, length: int) -> None:
        self._fail("truncate")
        if self.space_bytes is not None:
            self.space_bytes += max(0, os.fstat(fd).st_size - length)
        super().truncate(fd, length)

    def fdatasync(self, fd: int) -> None:
        self._fail("fdatasync")

    def unlink(self, path: Path) -> None:
        self._fail("unlink")
        freed = path.stat().st_size
        super().unlink(path)
        if self.space_bytes is not None:
            self.space_bytes += freed

    def _fail(self, operation: str) -> None:
        if operation in self.failing:
            raise _error(self.failing[operation])


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
