"""What every SQLite file of ours has in common: durable settings, a check at opening, and going aside when unsound.

A file that is no sound database is renamed with its side files, never deleted, and the newest few of such copies are
kept; the reason stands beside it. So a damaged file never stops a start.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_SIDE_FILES = ("", "-wal", "-shm", ".reason")
_UNSOUND_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_MARK = ".unsound-"
_KEPT = 3
_CHECK_MAX_BYTES = 256 * 1024 * 1024
"""A check reads the whole file; above this size starting late would hurt more than it helps."""

_NO_TEMPORARY_FILES = "PRAGMA temp_store = MEMORY"
"""SQLite sets a part of larger statements aside in files of a temporary folder; where the root file system is read-only
there is none, and every such statement would fail. People's words also have no place there.
"""


class UnsoundFileError(sqlite3.DatabaseError):
    """The file opens, and what is in it does not hold together."""


def connect(
    path: Path,
    *,
    prepare: Callable[[sqlite3.Connection], None],
    admit: Callable[[sqlite3.Connection], None] | None = None,
) -> sqlite3.Connection:
    """A connection for one thread at a time; WAL, and a commit is on disk when it returns.

    `admit` may refuse the file before anything in it is changed; `prepare` makes or migrates the tables. Raises
    sqlite3.Error, see `is_unsound`, and what those two raise.
    """
    with contextlib.suppress(OSError):  # SQLite says what is wrong with the place.
        path.touch(mode=0o600)  # People's words are in it; the side files take its mode.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        connection.execute(_NO_TEMPORARY_FILES)
        if admit is not None:
            admit(connection)
        if path.stat().st_size == 0:
            # Freed pages go back to the disk; can only be chosen before the first table.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        if path.stat().st_size <= _CHECK_MAX_BYTES:
            _check(connection)
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_beside(path: Path, *, may_write: bool = False) -> sqlite3.Connection:
    """A second connection to a file that another process keeps: never makes it, and waits up to 5 s for its writer.

    What it writes, with `may_write`, is on disk once it is committed. Raises sqlite3.Error.
    """
    mode = "rw" if may_write else "ro"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=5.0)
    try:
        connection.execute(_NO_TEMPORARY_FILES)
        if may_write:
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # Nothing is read before this.
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise UnsoundFileError(found)


def is_unsound(err: sqlite3.Error) -> bool:
    """True: setting the file aside cures it. Everything else (full, locked, no rights) may pass."""
    code = getattr(err, "sqlite_errorcode", None)
    return isinstance(err, UnsoundFileError) or (code is not None and (code & 0xFF) in _UNSOUND_CODES)


def set_aside(path: Path, *, reason: str, now_ns: int) -> Path:
    """Rename the file and its side files; the new name of the main file."""
    # The newest has the highest number, whatever the clock did.
    aside = path.with_name(f"{path.name}{_MARK}{max([now_ns, *(_number(known) + 1 for known in _copies(path))])}")
    for suffix in _SIDE_FILES:
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.replace(aside.with_name(aside.name + suffix))
    aside.with_name(f"{aside.name}.reason").write_text(f"{reason}\n", encoding="utf-8")
    log.error("unsound file set aside", file=path.name, copy=aside.name, reason=reason)
    _forget_oldest(path)
    return aside


def _copies(path: Path) -> list[Path]:
    """The main files."""
    return [found for found in path.parent.glob(f"{path.name}{_MARK}*") if found.suffix[len(_MARK) :].isdecimal()]


def _number(copy: Path) -> int:
    return int(copy.suffix[len(_MARK) :])


def _forget_oldest(path: Path) -> None:
    for old in sorted(_copies(path), key=_number)[:-_KEPT]:
        for suffix in _SIDE_FILES:
            old.with_name(old.name + suffix).unlink(missing_ok=True)
