"""The state's file never stops a start, unless it is somebody else's to decide."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from collector.live.database import StateUnavailableError, open_database, open_for_reading
from collector.live.schema import MIGRATIONS, VERSION, NewerStateError, migrate
from tests.support.agent_telemetry import AgentTelemetry
from tests.support.live_state import LiveHarness, keys_of

FULL = 2


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    live = LiveHarness(tmp_path)
    live.send(*AgentTelemetry().turn("order 7"))
    live.close()
    return live.path


UNSOUND = {
    "no database": lambda sound: b"this is not a database, not at all" * 50,
    "random bytes": lambda sound: random.Random(1).randbytes(20_000),
    "cut in half": lambda sound: sound[: len(sound) // 2],
    "a page overwritten": lambda sound: sound[:8192] + b"\xff" * 4096 + sound[12288:],
    "a torn header": lambda sound: b"\0" * 100 + sound[100:],
}


@pytest.mark.parametrize("damage", UNSOUND.values(), ids=UNSOUND.keys())
async def test_an_unsound_file_is_set_aside_with_the_reason_and_a_new_one_begun(filled: Path, damage):
    damaged = spoil(filled, damage)

    live = LiveHarness(filled.parent)
    live.send(*AgentTelemetry("again", name="again").turn("order 8"))
    await live.advance(7)

    assert keys_of(live.due()) == [("turn", 0)]
    assert live.count("adhere_live_state_set_aside_total") == 1
    (aside,) = set_aside(filled.parent)
    assert aside.read_bytes() == damaged
    assert aside.with_name(f"{aside.name}.reason").read_text().strip()
    live.close()


def test_an_empty_file_is_a_beginning(tmp_path: Path):
    (tmp_path / "live.db").touch()

    live = LiveHarness(tmp_path)

    assert live.count("adhere_live_state_set_aside_total") == 0
    live.close()


async def test_a_file_that_turns_out_unsound_while_running_is_set_aside_and_reading_goes_on(live):
    live.send(*AgentTelemetry().turn("order 7"))
    position = live.tracker.position

    live.tracker.start_anew("database disk image is malformed")
    live.send(*AgentTelemetry("next", name="next").turn("order 8"))
    await live.advance(7)

    assert keys_of(live.due()) == [("turn", 0)]
    assert live.tracker.position is not None
    assert position is not None
    assert live.tracker.position > position


def test_a_newer_version_is_refused_and_not_touched(filled: Path):
    with sqlite3.connect(filled) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    database.close()
    before = filled.read_bytes()

    with pytest.raises(NewerStateError, match="run the newer Adhere"):
        open_database(filled)

    assert filled.read_bytes() == before


@pytest.mark.parametrize("version", range(VERSION))
def test_every_older_version_is_brought_forward(tmp_path: Path, version: int):
    database = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    for number in range(version):
        database.executescript(f"{MIGRATIONS[number]}\nPRAGMA user_version = {number + 1};")

    migrate(database)

    assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
    database.close()


def test_commits_survive_power_loss(tmp_path: Path):
    connection = open_database(tmp_path / "live.db").connection

    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (FULL,)
    connection.close()


def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(StateUnavailableError, match="cannot be made"):
        open_database(tmp_path / "file" / "live.db")


def test_a_path_that_is_a_folder_is_a_clear_error(tmp_path: Path):
    (tmp_path / "live.db").mkdir()

    with pytest.raises(StateUnavailableError, match="cannot be opened"):
        open_database(tmp_path / "live.db")


def test_another_process_may_look_while_it_is_written(live):
    live.send(*AgentTelemetry().turn("order 7"))
    reader = open_for_reading(live.path)

    live.send(*AgentTelemetry("c2", name="c2").turn("order 8"))

    assert reader.execute("SELECT count(*) FROM trace").fetchone() == (2,)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM trace")
    reader.close()


def test_looking_where_nothing_is_says_so(tmp_path: Path):
    with pytest.raises(StateUnavailableError, match=r"There is no live state .*nothing\.db yet"):
        open_for_reading(tmp_path / "nothing.db")


@pytest.mark.parametrize("setting", ["", "PRAGMA journal_mode = WAL"])
def test_looking_before_the_tables_are_made_says_so(tmp_path: Path, setting: str):
    """A starting Adhere makes the file first: empty, then with a header only."""
    path = tmp_path / "live.db"
    path.touch()
    starting = sqlite3.connect(path)
    starting.execute(setting)

    with pytest.raises(StateUnavailableError, match="There is no live state"):
        open_for_reading(path)
    starting.close()


def test_looking_at_what_is_no_database_says_so(tmp_path: Path):
    path = tmp_path / "live.db"
    path.write_bytes(b"no database at all" * 300)

    with pytest.raises(StateUnavailableError, match="cannot be read"):
        open_for_reading(path)


def test_looking_at_a_file_of_a_newer_version_says_so(filled: Path):
    with sqlite3.connect(filled) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    database.close()

    with pytest.raises(NewerStateError, match="run the newer Adhere"):
        open_for_reading(filled)


def spoil(path: Path, damage) -> bytes:
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    return damaged


def set_aside(folder: Path) -> list[Path]:
    return [path for path in folder.glob("live.db.unsound-*") if path.suffix.startswith(".unsound")]
