"""The journal's file operations without the syncs, for tests that open hundreds of journals and never cut the power."""

from __future__ import annotations

from pathlib import Path

from collector.journal.files import OsFiles


class UnsyncedFiles(OsFiles):
    def __init__(self) -> None:
        self.read_bytes = 0

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        data = super().pread(fd, length, offset)
        self.read_bytes += len(data)
        return data

    def fdatasync(self, fd: int) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass
