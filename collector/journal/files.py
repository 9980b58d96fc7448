"""The few file operations the journal makes, as a parameter: tests log them, cut between them and let them fail."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | memoryview


class Files(Protocol):
    """Each may raise OSError. Files are opened close-on-exec; only regular files are opened."""

    def create(self, path: Path) -> int:
        """A new file for reading and writing; FileExistsError where there is one."""

    def open(self, path: Path, *, writable: bool = False) -> int: ...

    def size(self, fd: int) -> int: ...

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """May be shorter than asked for."""

    def pwritev(self, fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        """May write less than it was given."""

    def truncate(self, fd: int, length: int) -> None: ...

    def fdatasync(self, fd: int) -> None: ...

    def sync_directory(self, path: Path) -> None: ...

    def replace(self, source: Path, target: Path) -> None: ...

    def unlink(self, path: Path) -> None: ...

    def close(self, fd: int) -> None: ...


class OsFiles:
    def create(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def open(self, path: Path, *, writable: bool = False) -> int:
        # O_NONBLOCK: opening a FIFO that took a segment's name must not hang the start.
        flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_RDWR if writable else os.O_RDONLY)
        fd = os.open(path, flags)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise IsADirectoryError(f"{path.name} is not a regular file.")
        return fd

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        return os.pread(fd, length, offset)

    def pwritev(self, fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        return os.pwritev(fd, buffers, offset)

    def truncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def fdatasync(self, fd: int) -> None:
        if sys.platform == "darwin":
            # fsync leaves the data in the drive's cache there.
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(fd)

    def sync_directory(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def close(self, fd: int) -> None:
        os.close(fd)


_BUFFERS_PER_CALL = 1000
"""Linux refuses more than 1024 (IOV_MAX)."""


def write_all(files: Files, fd: int, buffers: Sequence[Buffer], *, offset: int) -> int:
    """Write every buffer; the offset after the last one. After an OSError, anything may stand from `offset` on."""
    first = 0
    rest: Buffer | None = None
    while first < len(buffers) or rest is not None:
        chunk: list[Buffer] = [] if rest is None else [rest]
        taken = min(len(buffers), first + _BUFFERS_PER_CALL)
        chunk.extend(buffers[first:taken])
        first = taken
        written = files.pwritev(fd, chunk, offset)
        if written == 0 and any(chunk):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        offset += written
        rest, left = _after(chunk, written)
        first -= left
    return offset


def _after(chunk: Sequence[Buffer], written: int) -> tuple[Buffer | None, int]:
    """The unwritten end of the buffer that was cut, and how many whole buffers come after it."""
    for index, buffer in enumerate(chunk):
        if written < len(buffer):
            return memoryview(buffer)[written:], len(chunk) - index - 1
        written -= len(buffer)
    return None, 0
