"""Damaged data is put aside into `corrupt/`, never thrown away without a trace and never in the way of a start.

Copies are bounded in bytes and made once however many readers meet the damage; what is over the bound is only counted.
Moved files keep their number in their name, so that the number is not used again.
"""

from __future__ import annotations

import os
from pathlib import Path

import structlog

from collector.journal.files import Files, write_all

log = structlog.get_logger(__name__)

_CHUNK_BYTES = 1024 * 1024
_MAX_NAME_TRIES = 1000


class Aside:
    def __init__(self, directory: Path, *, files: Files, max_bytes: int) -> None:
        self._directory = directory / "corrupt"
        self._files = files
        self._max_bytes = max_bytes

    def names(self) -> list[str]:
        try:
            return sorted(entry.name for entry in self._directory.iterdir())
        except OSError:
            return []

    def move(self, path: Path, *, reason: str) -> bool:
        """False where the file had to stay; it is in nobody's way then either, only skipped again at the next start."""
        try:
            self._directory.mkdir(exist_ok=True)
            target = self._directory / f"{path.name}.{reason}"
            for attempt in range(1, _MAX_NAME_TRIES):
                if not os.path.lexists(target):
                    break
                target = self._directory / f"{path.name}.{reason}.{attempt}"
            self._files.replace(path, target)
        except OSError as err:
            log.warning("damaged file not set aside", path=str(path), reason=reason, error=str(err))
            return False
        log.warning("damaged file set aside", path=str(path), kept=str(target), reason=reason)
        return True

    def copy(self, fd: int, *, segment: int, start: int, end: int) -> bool:
        """Keep bytes of a segment. False where they were not kept: over the bound, or the disk refuses."""
        name = f"{segment:020d}-{start:012d}-{end - start}.bytes"
        target = self._directory / name
        try:
            self._directory.mkdir(exist_ok=True)
            if self._used_bytes() + end - start > self._max_bytes:
                log.warning(
                    "damaged bytes not kept", segment=segment, offset=start, bytes=end - start, bound=self._max_bytes
                )
                return False
            copy_fd = self._files.create(target)
        except FileExistsError:
            return True
        except OSError as err:
            log.warning("damaged bytes not kept", segment=segment, offset=start, error=str(err))
            return False
        try:
            self._copy_bytes(fd, copy_fd, start, end)
        except OSError as err:
            log.warning("damaged bytes not kept", segment=segment, offset=start, error=str(err))
            return False
        finally:
            self._files.close(copy_fd)
        return True

    def _copy_bytes(self, fd: int, copy_fd: int, start: int, end: int) -> None:
        offset = start
        while offset < end:
            data = self._files.pread(fd, min(_CHUNK_BYTES, end - offset), offset)
            if not data:
                return
            write_all(self._files, copy_fd, [data], offset=offset - start)
            offset += len(data)

    def _used_bytes(self) -> int:
        return sum(entry.stat().st_size for entry in os.scandir(self._directory) if entry.name.endswith(".bytes"))
