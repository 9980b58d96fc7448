"""The mark: how far a reader in another process may read.

A record that is written but not yet synced looks like any other: its checks hold. If a reader took it and committed
the position after it, a failed write that is truncated back, or a power loss, could take the bytes back, and new
bytes at the same offsets would never be read. Three rules exclude that:

1. The writer publishes the end of what is synced in the file `mark`, after each fdatasync and before it acknowledges;
   readers go no further. The file is written in place (`slots.py`) and read with two small preads, so publishing
   costs microseconds, needs no space, and is safe against a writer killed half-way and on any file system.
2. The mark is itself synced only when a segment begins, not with each group. Whatever older value survives a power
   loss names an end that was durable when it was written, so a reader that starts before the writer is safe with it;
   and no segment's number is given twice, even if somebody takes its file away.
3. A writer never appends to a segment that it finds: each start, and each failed sync, begins a new segment with a
   number above everything seen (segments, mark, cursors, files set aside). Offsets are therefore reused only within
   one writer's life and only beyond the mark, and a cursor is never ahead of bytes that come later.

A segment with a number below the mark's is finished and may be read to the end of its file.
"""

from __future__ import annotations

import os
from pathlib import Path

import structlog

from collector.journal.files import Files
from collector.journal.slots import Slot, SlotFile

log = structlog.get_logger(__name__)

_MAGIC = b"ADHM"
MARK_NAME = "mark"


class MarkWriter:
    """The one writer's side. A store that fails is repeated with the next one; readers only learn of it later."""

    def __init__(self, directory: Path, *, files: Files) -> None:
        self._file = SlotFile(directory / MARK_NAME, magic=_MAGIC, files=files)
        self._path = directory / MARK_NAME

    def open(self) -> Slot | None:
        """The last mark, if there is a valid one. Raises OSError and JournalVersionError."""
        self._file.open_writable()
        return self._file.load().slot

    def publish(self, slot: Slot, *, sync: bool = False) -> bool:
        try:
            self._file.open_writable()
            self._file.store(slot, sync=sync)
        except OSError as err:
            log.warning("journal mark not written", path=str(self._path), error=str(err))
            return False
        return True

    def close(self) -> None:
        self._file.close()


class MarkReader:
    def __init__(self, directory: Path, *, files: Files) -> None:
        self._path = directory / MARK_NAME
        self._files = files
        self._file = SlotFile(self._path, magic=_MAGIC, files=files)
        self._last: Slot | None = None

    def load(self) -> Slot | None:
        """The newest mark; where it cannot be read, the last one that could be."""
        if self._is_replaced():
            self._file.close()
        if not self._file.open_readable():
            return self._last
        try:
            slot = self._file.load().slot
        except OSError as err:
            log.warning("journal mark not read", path=str(self._path), error=str(err))
            return self._last
        if slot is not None and (self._last is None or slot.position >= self._last.position):
            self._last = slot
        return self._last

    def close(self) -> None:
        self._file.close()

    def _is_replaced(self) -> bool:
        if self._file.fd is None:
            return False
        try:
            return os.fstat(self._file.fd).st_ino != self._path.stat().st_ino
        except OSError:
            return False
