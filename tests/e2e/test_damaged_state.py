"""State files that are unreadable, of another kind or of a newer release: start, or say why not (R4, R5, R36)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from adhere.config import load_config
from adhere.errors import UsageError
from adhere.run.evaluator import run_evaluator
from adhere.run.lifetime import Lifetime
from tests.support.adhere_process import AdhereProcess
from tests.support.command_line import run_adhere
from tests.support.running_adhere import write_config
from tests.support.traffic import Oracle, Producer
from tests.support.until import until

pytestmark = pytest.mark.timeout(600)

LONG_S = 150.0
GARBAGE = bytes(range(7, 256)) * 40
DATABASES = ("conversations.db", "verdicts.db", "outbox.db")


async def test_garbage_in_every_file_is_set_aside(tmp_path: Path) -> None:
    config = write_config(tmp_path, evaluators=["rules"])
    data = tmp_path / "data"
    files = [*DATABASES, "addresses.json", "evaluator.port", "fence.key", "sender.id"]
    files += ["collector.lock", "evaluator.lock"]
    files += ["journal/00000000000000000001.segment", "journal/mark", "journal/lock", "journal/cursors/evaluator"]
    files += ["verdicts.jsonl"]
    for name in files:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(GARBAGE)

    async with AdhereProcess(config) as adhere:
        await until(lambda: adhere.returncode is not None or adhere.data.read_addresses() is not None, timeout_s=LONG_S)
        locate = adhere.data.read_addresses
        async with Producer("p", transport="http", oracle=Oracle(), locate=locate, seed=1) as producer:
            sent = await producer.send_one(with_conversation=True)
        await until(lambda: sent in judged(data / "verdicts.jsonl"), timeout_s=LONG_S)
        assert await adhere.terminate() == 0

    kept = [path.name for path in data.rglob("*") if path.is_file() and path.read_bytes() == GARBAGE]
    assert {name.partition(".db")[0] for name in kept if ".db" in name} == {"conversations", "verdicts", "outbox"}


def judged(path: Path) -> list[str]:
    """Of the whole lines after the garbage."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line)["conversation_id"] for line in lines if line.startswith(b'{"schema"')]


@pytest.mark.parametrize("name", DATABASES)
async def test_a_database_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    """A UsageError ends the process with exit code 2, and the supervisor with it: nothing is tried again."""
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / name
    database = sqlite3.connect(file)
    database.executescript("CREATE TABLE meta (name TEXT); PRAGMA user_version = 99;")
    database.close()

    with pytest.raises(UsageError, match="99"):
        await run_evaluator(load_config(write_config(tmp_path)), Lifetime())

    database = sqlite3.connect(file)
    assert database.execute("PRAGMA user_version").fetchone() == (99,)
    assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("meta",)]
    database.close()


async def test_a_data_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    ended = await run_adhere("run", "--config", write_config(tmp_path))

    assert ended.code == 2
    assert ended.err.startswith(f"Error: The data folder {tmp_path / 'data'} cannot be made: File exists;")
    assert len(ended.err.splitlines()) == 1
