"""An flock on a file, released by the kernel however the process ends; the file names the process that holds it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


class HeldError(Exception):
    """Another process has it."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder
        """Its id, as far as it is known."""


class FileLock:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def acquire(self) -> None:
        """Raises HeldError, and OSError where the file cannot be opened."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise HeldError(holder) from err
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        # The process id only helps people; a full disk must not keep anything from starting.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Safe twice."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
