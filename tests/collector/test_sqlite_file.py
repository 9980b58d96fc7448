"""A second connection, as from another process, beside the one that keeps the file."""

import sqlite3
import subprocess
import sys

import pytest

from collector.sqlite_file import connect, connect_beside


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "some.db"
    connection = connect(path, prepare=lambda made: made.execute("CREATE TABLE words (word TEXT)"))
    yield path
    connection.close()


@pytest.mark.parametrize("may_write", [False, True])
def test_a_file_that_is_not_there_is_not_made(tmp_path, may_write):
    with pytest.raises(sqlite3.OperationalError):
        connect_beside(tmp_path / "none.db", may_write=may_write)

    assert list(tmp_path.iterdir()) == []


def test_what_is_no_database_is_told_at_once(tmp_path):
    (tmp_path / "text.db").write_text("words, and more of them than a header has " * 50)

    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        connect_beside(tmp_path / "text.db")


def test_who_only_reads_cannot_write(kept):
    reader = connect_beside(kept)

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("INSERT INTO words VALUES ('no')")
    reader.close()


def test_what_is_written_beside_is_seen_by_all(kept):
    writer, reader = connect_beside(kept, may_write=True), connect_beside(kept)

    writer.execute("INSERT INTO words VALUES ('yes')")

    assert reader.execute("SELECT word FROM words").fetchall() == [("yes",)]
    writer.close()
    reader.close()


_WITHOUT_ANOTHER_FILE = """
import os, resource, sys
from pathlib import Path
from collector.sqlite_file import connect, connect_beside

path = Path(sys.argv[1])
kept = connect(path, prepare=lambda made: made.execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE)"))
kept.executemany("INSERT INTO words VALUES (?, ?)", [(number, f"{number}" * 200) for number in range(3000)])
beside = connect_beside(path, may_write=True)
taken = max(int(name) for name in os.listdir("/proc/self/fd"))
allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (taken, allowed[1]))
for connection in (kept, beside):
    connection.execute("UPDATE words SET word = word || 'more'")
    connection.execute("DELETE FROM words WHERE id IN (SELECT id FROM words ORDER BY word LIMIT 1000)")
    assert connection.execute("SELECT count(*) FROM (SELECT word FROM words ORDER BY word || id)").fetchone()
resource.setrlimit(resource.RLIMIT_NOFILE, allowed)  # Whoever measures coverage writes a file at the end.
"""


def test_no_statement_needs_a_temporary_folder(tmp_path):
    """Where the root file system is read-only, as in a container, there is none."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ANOTHER_FILE, tmp_path / "some.db"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
