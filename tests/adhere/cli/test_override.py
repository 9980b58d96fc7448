"""`adhere override` on the data folder of an Adhere that has judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.store.explain import open_archive
from tests.support.command_line import CommandLine
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import Judging


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one verdict, of a conversation named refund."""

    async def judge() -> None:
        found = Judging(tmp_path, EvaluatorSetup(ScriptedEvaluator()))
        await found.pipeline.start()
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()
        await found.pipeline.shutdown(0)
        found.store.close()

    asyncio.run(judge())
    for part in tmp_path.glob("verdicts.sqlite*"):
        part.rename(tmp_path / part.name.replace("verdicts.sqlite", "verdicts.db"))
    (tmp_path / "adhere.yaml").write_text(f"data_dir: {tmp_path}")
    return tmp_path


def standing(folder: Path):
    with open_archive(folder / "verdicts.db") as archive:
        (found,) = (record.verdict for record in archive.explain("refund").decisions if record.current)
    return found


def override(adhere: CommandLine, folder: Path, verdict_id: str, *more: object):
    options = ("--reason", "It was wrong.", "--by", "ada", "--config", folder / "adhere.yaml")
    return adhere("override", verdict_id, *options, *more)


def test_a_score_is_replaced(adhere: CommandLine, folder: Path) -> None:
    before = standing(folder)

    shown = override(adhere, folder, before.id, "--score", "0")

    after = standing(folder)
    assert shown.code == 0
    assert shown.out.startswith("fail 0.00 by human: It was wrong.")
    assert (after.score, after.supersedes, after.details["human"]["by"]) == (0.0, before.id, "ada")


def test_a_verdict_that_is_not_there_is_named(adhere: CommandLine, folder: Path) -> None:
    shown = override(adhere, folder, "nothing", "--score", "1")

    assert shown.code == 2
    assert "No verdict has the id 'nothing'" in shown.err


def test_a_folder_without_verdicts_is_named(adhere: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "adhere.yaml").write_text(f"data_dir: {tmp_path}")

    shown = override(adhere, tmp_path, "x")

    assert shown.code == 1
    assert "There are no verdicts in" in shown.err
