"""A disk whose power can be cut: logs every operation, and rebuilds what would be on disk after any prefix of the log.

What survives a cut: the content of a file as of its last sync, under a name whose directory was synced since it was
given. Of what was written later, each write survives by chance: whole, not at all, or its beginning up to a sector,
with zeros or nothing after it, as file systems leave it. Deletions and renames count as done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from collector.journal.files import Buffer
from tests.support.unsynced_files import UnsyncedFiles

_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Operation:
    kind: str
    name: str
    offset: int = 0
    data: bytes = b""


class PowerCutFiles(UnsyncedFiles):
    """For files below one directory; names are relative to it. Syncs nothing itself: the log is what counts."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.log: list[Operation] = []
        self._directory = directory
        self._names: dict[int, str] = {}

    def adopt(self) -> None:
        """Take what is in the directory as on disk."""
        for path in sorted(self._directory.rglob("*")):
            if path.is_file():
                self.log += (
                    Operation("create", self._name(path)),
                    Operation("write", self._name(path), data=path.read_bytes()),
                    Operation("sync", self._name(path)),
                    Operation("sync_directory", self._name(path.parent)),
                )

    def note(self, kind: str, data: bytes) -> None:
        """Put an event of the test's own between the operations."""
        self.log.append(Operation(kind, "", data=data))

    def create(self, path: Path) -> int:
        fd = super().create(path)
        self._names[fd] = self._name(path)
        self.log.append(Operation("create", self._name(path)))
        return fd

    def open(self, path: Path, *, writable: bool = False) -> int:
        fd = super().open(path, writable=writable)
        self._names[fd] = self._name(path)
        return fd

    def pwritev(self, fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        written = super().pwritev(fd, buffers, offset)
        self.log.append(Operation("write", self._names[fd], offset, b"".join(buffers)[:written]))
        return written

    def truncate(self, fd: int, length: int) -> None:
        super().truncate(fd, length)
        self.log.append(Operation("truncate", self._names[fd], length))

    def fdatasync(self, fd: int) -> None:
        self.log.append(Operation("sync", self._names[fd]))

    def sync_directory(self, path: Path) -> None:
        self.log.append(Operation("sync_directory", self._name(path)))

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self.log.append(Operation("replace", self._name(source), data=self._name(target).encode()))

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self.log.append(Operation("unlink", self._name(path)))

    def close(self, fd: int) -> None:
        del self._names[fd]
        super().close(fd)

    def rebuild(self, target: Path, *, operations: int, random: Random) -> None:
        """What is on disk when the power goes after so many operations."""
        disk = Disk()
        for operation in self.log[:operations]:
            disk.apply(operation)
        disk.rebuild(target, random=random)

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._directory))


class _File:
    def __init__(self) -> None:
        self.synced = b""
        self.unsynced: list[Operation] = []
        self.has_name = False


class Disk:
    """What is on disk and what is only on its way there, operation by operation."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}

    def apply(self, operation: Operation) -> None:
        name = operation.name
        match operation.kind:
            case "create":
                self.files[name] = _File()
            case "write" | "truncate":
                self.files[name].unsynced.append(operation)
            case "sync":
                file = self.files[name]
                for earlier in file.unsynced:
                    file.synced = _applied(file.synced, earlier)
                file.unsynced.clear()
            case "sync_directory":
                for path, file in self.files.items():
                    if str(Path(path).parent) == name:
                        file.has_name = True
            case "replace":
                self.files[operation.data.decode()] = self.files.pop(name)
            case "unlink":
                self.files.pop(name, None)

    def rebuild(self, target: Path, *, random: Random) -> None:
        """What is there when the power goes now."""
        for name, content in self._after_cut(random).items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _after_cut(self, random: Random) -> dict[str, bytes]:
        found = {}
        for name, file in self.files.items():
            if not file.has_name and random.random() < 0.5:
                continue
            content = file.synced
            for operation in file.unsynced:
                match random.choice(("whole", "none", "torn", "zeros")):
                    case "whole":
                        content = _applied(content, operation)
                    case "torn":
                        kept = _torn(operation, random)
                        content = _applied(content, kept)
                    case "zeros":
                        kept = _torn(operation, random)
                        content = _applied(
                            content, Operation("write", name, operation.offset, bytes(len(operation.data)))
                        )
                        content = _applied(content, kept)
            found[name] = content
        return found


def _torn(operation: Operation, random: Random) -> Operation:
    if operation.kind != "write":
        return operation
    cut = random.randint(0, len(operation.data)) // _SECTOR_BYTES * _SECTOR_BYTES
    return Operation("write", operation.name, operation.offset, operation.data[:cut])


def _applied(content: bytes, operation: Operation) -> bytes:
    if operation.kind == "truncate":
        return content[: operation.offset].ljust(operation.offset, b"\0")
    if not operation.data:
        return content
    end = operation.offset + len(operation.data)
    return content[: operation.offset].ljust(operation.offset, b"\0") + operation.data + content[end:]
