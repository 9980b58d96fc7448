"""A file of lines that verdicts are appended to: whole lines only, on disk before they count, bounded, rotated.

A write that fails is undone, and a torn last line, left by a crash, is removed when the file is opened. At its bound
the file becomes `<name>.1<suffix>`, older ones move up, the oldest goes. Links are not followed. Safe for threads.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from collector.errors import RetryableError
from exporters.errors import ExporterConfigError

log = structlog.get_logger(__name__)

_CHUNK: Final = 64 << 10
_OPEN_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class LinesFile:
    def __init__(
        self,
        path: Path,
        *,
        name: str,
        is_torn: Callable[[bytes], bool],
        header: bytes = b"",
        max_file_bytes: int = 100 << 20,
        max_files: int = 10,
    ) -> None:
        """`name` is the exporter's; `is_torn` knows the beginning of a line of ours; `header` begins each file.

        Creates the folder and the file with the first lines, readable by the owner only.
        """
        if path.name in ("", ".", ".."):
            raise ExporterConfigError(f"The exporter {name!r} needs the path of a file; {str(path)!r} names none.")
        self._path = path
        self._is_torn = is_torn
        self._header = header
        self._max_file_bytes = max_file_bytes
        self._max_files = max_files
        self._fd: int | None = None
        # A cancelled try leaves its thread at work; the next one waits for it here.
        self._lock = threading.Lock()

    def append(self, lines: bytes) -> None:
        """Return once the lines are on disk. Raises RetryableError."""
        try:
            with self._lock:
                self._append_whole(lines)
        except OSError as err:
            raise RetryableError(f"The file {self._path.name} cannot be written ({err.strerror}).") from err

    def close(self) -> None:
        with self._lock:
            fd, self._fd = self._fd, None
            if fd is not None:
                os.close(fd)

    def _append_whole(self, lines: bytes) -> None:
        fd = self._open()
        size = os.fstat(fd).st_size
        if size and size + len(lines) > self._max_file_bytes:
            self._rotate()
            fd, size = self._open(), 0
        try:
            _write_all(fd, self._header + lines if size == 0 else lines)
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise

    def _open(self) -> int:
        if self._fd is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._path, _OPEN_FLAGS, 0o600)
            try:
                self._repair(fd)
                self._sync_folder()
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd
        return self._fd

    def _repair(self, fd: int) -> None:
        """Make the file end with a whole line. Only what is a beginning of one of our lines is removed."""
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "not a regular file")
        size = found.st_size
        tail = _last_line(fd, size)
        if not tail:
            return
        if self._is_torn(tail):
            os.ftruncate(fd, size - len(tail))
            log.warning("torn last line removed", file=self._path.name, bytes=len(tail))
        else:
            _write_all(fd, b"\n")
        os.fsync(fd)

    def _rotate(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        for number in range(self._max_files - 1, 0, -1):
            newer = self._path if number == 1 else self._numbered(number - 1)
            if newer.exists():
                newer.replace(self._numbered(number))
        if self._max_files == 1:
            self._path.unlink(missing_ok=True)
        self._sync_folder()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.stem}.{number}{self._path.suffix}")

    def _sync_folder(self) -> None:
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _last_line(fd: int, size: int) -> bytes:
    """What follows the last line break."""
    tail = b""
    start = size
    while start > 0:
        step = min(_CHUNK, start)
        start -= step
        piece = os.pread(fd, step, start)
        found = piece.rfind(b"\n")
        if found >= 0:
            return piece[found + 1 :] + tail
        tail = piece + tail
    return tail
