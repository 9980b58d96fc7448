"""One writer a journal: an flock on the file `lock`, released by the kernel however the process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from collector.journal.errors import JournalLockedError


class JournalLock:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fd: int | None = None

    def acquire(self) -> None:
        """Raises JournalLockedError, and OSError where the file cannot be opened."""
        fd = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise JournalLockedError(
                f"Journal {self._directory} is being written by process {holder}; "
                "stop that one or choose another directory."
            ) from err
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        # The process id only helps the message above; a full disk must not keep the journal from opening.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
