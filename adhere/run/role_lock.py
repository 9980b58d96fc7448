"""One collector and one evaluator a data folder: a lock each.

Taken before anything else in the folder is touched, so that a second Adhere that is started by mistake changes nothing
under the first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from adhere.errors import UsageError
from collector.file_lock import FileLock, HeldError


class RoleLock:
    def __init__(self, folder: Path, role: str) -> None:
        self._path = folder / f"{role}.lock"
        self._role = role
        self._lock = FileLock(self._path)

    def acquire(self) -> None:
        """Raises UsageError that names the process that holds it. The folder exists."""
        try:
            self._lock.acquire()
        except OSError as err:
            raise UsageError(f"The lock {self._path} cannot be opened: {err.strerror}; set another data_dir.") from err
        except HeldError as err:
            raise UsageError(
                f"Another Adhere (process {err.holder}) has its {self._role} on the data folder {self._path.parent};"
                " stop that one, or set another data_dir."
            ) from err

    def release(self) -> None:
        self._lock.release()

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
