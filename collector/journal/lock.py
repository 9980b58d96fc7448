"""One writer a journal: a lock on the file `lock` in its folder."""

from __future__ import annotations

from pathlib import Path

from collector.file_lock import FileLock, HeldError
from collector.journal.errors import JournalLockedError


class JournalLock:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = FileLock(directory / "lock")

    def acquire(self) -> None:
        """Raises JournalLockedError, and OSError where the file cannot be opened."""
        try:
            self._lock.acquire()
        except HeldError as err:
            raise JournalLockedError(
                f"Journal {self._directory} is being written by process {err.holder}; "
                "stop that one or choose another directory."
            ) from err

    def release(self) -> None:
        self._lock.release()
