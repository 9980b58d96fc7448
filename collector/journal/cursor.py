"""Named cursors: how far a reader is done, one file each in `cursors/`, held by one reader at a time.

A damaged file falls back to the position before, or to the oldest record: reading again is safe, results are
idempotent.
"""

from __future__ import annotations

import fcntl
import re
from pathlib import Path

import structlog

from collector.errors import JournalUnavailableError
from collector.journal.aside import Aside
from collector.journal.errors import JournalLockedError
from collector.journal.files import Files
from collector.journal.metrics import JournalMetrics
from collector.journal.protocol import Position
from collector.journal.slots import Slot, SlotFile

log = structlog.get_logger(__name__)

_MAGIC = b"ADHC"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

START = Slot(position=Position(0, 0), next_record_id=0, written_ns=0)


def cursors_directory(directory: Path) -> Path:
    return directory / "cursors"


def check_cursor_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"Journal cursor name {name!r} cannot be a file name; use up to 100 letters, digits, dots, dashes and "
            "underscores, a letter or digit first."
        )
    return name


def list_cursors(directory: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in cursors_directory(directory).iterdir())
    except OSError:
        return []


def peek_cursor(directory: Path, name: str, *, files: Files) -> Position:
    """Where a cursor stands, without holding it; before everything where it cannot be read."""
    file = SlotFile(cursors_directory(directory) / name, magic=_MAGIC, files=files)
    try:
        if not file.open_readable():
            return START.position
        slot = file.load().slot
    except OSError:
        return START.position
    finally:
        file.close()
    return START.position if slot is None else slot.position


class Cursor:
    """The holder's side."""

    def __init__(self, directory: Path, name: str, *, files: Files, metrics: JournalMetrics, aside: Aside) -> None:
        self._directory = directory
        self._name = check_cursor_name(name)
        self._path = cursors_directory(directory) / name
        self._file = SlotFile(self._path, magic=_MAGIC, files=files)
        self._metrics = metrics
        self._aside = aside
        self._committed = START

    def open(self) -> Slot:
        """Hold the cursor and return where it stands.

        Raises JournalLockedError, JournalVersionError, and JournalUnavailableError where no file can be kept.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._open_file()
            self._hold()
            state = self._file.load()
        except OSError as err:
            self.close()
            raise JournalUnavailableError(
                f"Journal cursor {self._path} cannot be opened ({err.strerror}); check the directory."
            ) from err
        except BaseException:
            self.close()
            raise
        if state.damaged:
            self._metrics.cursor_fallbacks.labels(self._name).inc()
            log.warning(
                "journal cursor damaged", cursor=self._name, fell_back_to=str(state.slot and state.slot.position)
            )
        if state.slot is not None:
            self._committed = state.slot
        return self._committed

    @property
    def committed(self) -> Position:
        return self._committed.position

    def commit(self, slot: Slot) -> None:
        """Durable on return. Raises JournalUnavailableError; the position before stays then."""
        try:
            self._file.store(slot, sync=True)
        except OSError as err:
            raise JournalUnavailableError(
                f"Journal cursor {self._path} cannot be written ({err.strerror}); it stays where it was.",
                retry_after_s=1.0,
            ) from err
        self._committed = slot

    def close(self) -> None:
        self._file.close()

    def _open_file(self) -> None:
        try:
            self._file.open_writable()
        except OSError:
            # A directory, a device or an unreadable file took the name: it must not block the reader for ever.
            if not self._aside.move(self._path, reason="cursor"):
                raise
            self._metrics.corrupt.labels("cursor").inc()
            self._file.close()
            self._file.open_writable()

    def _hold(self) -> None:
        fd = self._file.fd
        assert fd is not None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            raise JournalLockedError(
                f"Journal cursor {self._name} in {self._directory} is held by another reader; "
                "stop that one or use another name."
            ) from err
