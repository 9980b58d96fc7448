"""Opens the live state's file: durable, migrated, and never a reason not to start.

WAL with synchronous=FULL: a committed batch survives power loss. A file that is no sound database is set aside under a
new name with the reason beside it, and a new one is begun: the live state can be rebuilt from what is still to come,
verdicts are in another file. A file of a newer version or a folder that cannot be written to is a clear error instead.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from collector.errors import AdhereError
from collector.live.schema import VERSION, migrate, refuse_newer
from collector.sqlite_file import connect, connect_beside, set_aside


class StateUnavailableError(AdhereError):
    """The file cannot be opened for reasons that setting it aside would not cure."""


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    connection: sqlite3.Connection
    set_aside: Path | None
    """Where an unsound file went."""


def open_database(path: Path, *, cache_bytes: int = 16 * 1024 * 1024, set_aside_at_ns: int = 0) -> OpenedDatabase:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return OpenedDatabase(connection=_connect(path, cache_bytes=cache_bytes), set_aside=None)
    except sqlite3.OperationalError as err:
        raise StateUnavailableError(
            f"The live state {path} cannot be opened ({err}); check that the folder exists, is writable and has space."
        ) from err
    except OSError as err:
        raise StateUnavailableError(
            f"The folder of the live state {path} cannot be made ({err.strerror}); choose one that can be written to."
        ) from err
    except sqlite3.DatabaseError as err:
        aside = set_aside(path, reason=str(err), now_ns=set_aside_at_ns)
        return OpenedDatabase(connection=_connect(path, cache_bytes=cache_bytes), set_aside=aside)


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A second connection, also from another process; it never writes and never blocks the writer."""
    try:
        connection = connect_beside(path)
    except sqlite3.Error as err:
        if not path.exists():
            raise _not_begun(path) from err
        raise StateUnavailableError(
            f"The live state {path} cannot be read ({err}); check that it and its folder may be read by this user."
        ) from err
    try:
        _require_current(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_current(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    refuse_newer(version)
    if version < VERSION:  # A starting Adhere has made the file, and is still to make or migrate its tables.
        raise _not_begun(path)


def _not_begun(path: Path) -> StateUnavailableError:
    return StateUnavailableError(
        f"There is no live state {path} yet; Adhere begins one within moments of its start: "
        "start it, try again, or check data_dir."
    )


def _connect(path: Path, *, cache_bytes: int) -> sqlite3.Connection:
    def prepare(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA cache_size = -{cache_bytes // 1024}")
        migrate(connection)

    return connect(path, prepare=prepare)
