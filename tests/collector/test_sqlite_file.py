"""A second connection, as from another process, beside the one that keeps the file."""

import sqlite3

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
