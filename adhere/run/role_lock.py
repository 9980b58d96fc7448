"""One collector and one evaluator a data folder: an flock each, released by the kernel however the process ends.

Taken before anything else in the folder is touched, so that a second Adhere that is started by mistake changes nothing
under the first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Self

from adhere.errors import UsageError


class RoleLock:
    def __init__(self, folder: Path, role: str) -> None:
        self._path = folder / f"{role}.lock"
        self._role = role
        self._fd: int | None = None

    def acquire(self) -> None:
        """Raises UsageError that names the process that holds it. The folder exists."""
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as err:
            raise UsageError(f"The lock {self._path} cannot be opened: {err.strerror}; set another data_dir.") from err
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise UsageError(
                f"Another Adhere (process {holder}) has its {self._role} on the data folder {self._path.parent};"
                " stop that one, or set another data_dir."
            ) from err
        self._fd = fd
        # The process id only helps the message above; a full disk must not keep Adhere from starting.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def check_free(folder: Path, *roles: str) -> None:
    """Raises UsageError where one of the roles is taken; what holds the lock later is the process itself."""
    for role in roles:
        if (folder / f"{role}.lock").exists():
            with RoleLock(folder, role):
                pass
