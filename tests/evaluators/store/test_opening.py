from __future__ import annotations

import sqlite3
import stat

import pytest

from evaluators.errors import StoreUnavailableError, StoreVersionError
from evaluators.store.opening import open_database, open_read_only
from evaluators.store.schema import MIGRATIONS, SCHEMA_VERSION
from tests.support.clock import ManualClock


@pytest.fixture
def path(tmp_path):
    return tmp_path / "verdicts.sqlite"


def pragma(connection, name):
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_commit_is_on_disk_when_it_returns(path):
    connection = open_database(path, clock=ManualClock())

    assert (pragma(connection, "journal_mode"), pragma(connection, "synchronous")) == ("wal", 2)
    assert pragma(connection, "user_version") == SCHEMA_VERSION

    connection.close()


def test_it_is_for_its_owner_only_whatever_the_folder_is(path):
    path.parent.chmod(0o755)
    connection = open_database(path, clock=ManualClock())

    files = sorted(path.parent.iterdir())
    assert [(file.name, stat.S_IMODE(file.stat().st_mode)) for file in files] == [
        ("verdicts.sqlite", 0o600),
        ("verdicts.sqlite-shm", 0o600),
        ("verdicts.sqlite-wal", 0o600),
    ]

    connection.close()


def test_what_was_written_is_there_after_opening_again(path):
    first = open_database(path, clock=ManualClock())
    first.execute("INSERT INTO calls VALUES ('k', 1, x'00', 1)")
    first.close()

    second = open_database(path, clock=ManualClock())

    assert second.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    second.close()


@pytest.mark.parametrize("damage", ["header", "page"])
def test_a_corrupt_file_is_set_aside_and_an_empty_one_takes_its_place(path, damage):
    connection = open_database(path, clock=ManualClock())
    connection.executemany("INSERT INTO calls VALUES (?, 1, ?, 500)", [(f"k{n}", b"x" * 500) for n in range(200)])
    connection.close()
    with path.open("r+b") as file:
        file.seek(0 if damage == "header" else 4096)
        file.write(b"\xff" * (64 if damage == "header" else 40_000))

    fresh = open_database(path, clock=ManualClock())

    assert fresh.execute("SELECT count(*) FROM calls").fetchone() == (0,)
    assert len(list(path.parent.glob("verdicts.sqlite.unsound-*"))) >= 1
    fresh.close()


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path):
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()

    with pytest.raises(StoreVersionError, match=f"version {SCHEMA_VERSION + 1}"):
        open_database(path, clock=ManualClock())

    kept = sqlite3.connect(path)
    assert pragma(kept, "user_version") == SCHEMA_VERSION + 1
    kept.close()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreUnavailableError, match="missing"):
        open_database(tmp_path / "missing" / "verdicts.sqlite", clock=ManualClock())


def test_reading_only_never_creates_a_file(path):
    with pytest.raises(StoreUnavailableError):
        open_read_only(path)

    assert not path.exists()


def test_a_file_of_an_earlier_version_is_brought_up_to_date_with_what_it_holds(path):
    earlier = sqlite3.connect(path)
    earlier.executescript(f"{MIGRATIONS[0]}\nPRAGMA user_version = 1;\nINSERT INTO calls VALUES ('k', 1, x'00');")
    earlier.close()

    connection = open_database(path, clock=ManualClock())

    assert pragma(connection, "user_version") == SCHEMA_VERSION
    assert connection.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM states").fetchone() == (0,)
    connection.close()
