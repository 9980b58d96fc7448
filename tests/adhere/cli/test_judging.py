"""`adhere judging dead` and `retry`, on the data folder of an Adhere that has judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml

from adhere.cli.explain import _judging
from adhere.run.data_dir import DataDir
from evaluators.evaluator import Judgement
from evaluators.measuring.calibration import Calibrations
from evaluators.store.dead import dead_judgings
from evaluators.store.explain import open_archive
from evaluators.verdict import Outcome, Unit
from tests.support.command_line import CommandLine
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup

NAMES = ("task_adherence", "clerk")


def failing(unit: Unit, asked_before: int) -> Judgement:
    return Judgement(outcome=Outcome.ERROR, error_type="too_long", reason="It is over the judge's context.")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """With two units that each of two evaluators gave up."""

    async def judge() -> None:
        evaluators = [setup(ScriptedEvaluator(failing, name=name)) for name in NAMES]
        async with judging(tmp_path, *evaluators) as found:
            for conversation_id in ("c-1", "c-2"):
                await found.pipeline.submit(
                    turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))
                )
                await found.pipeline.drain()

    asyncio.run(judge())
    for part in tmp_path.glob("verdicts.sqlite*"):
        part.rename(tmp_path / part.name.replace("verdicts.sqlite", "verdicts.db"))
    path = tmp_path / "adhere.yaml"
    evaluators = [NAMES[0], {"role_adherence": {"as": NAMES[1], "on": "turn"}}, "rules"]
    path.write_text(yaml.safe_dump({"data_dir": str(tmp_path), "evaluators": evaluators}))
    return path


def called_back(config: Path) -> set[tuple[str, str]]:
    found = dead_judgings(DataDir(config.parent).verdicts, limit=10)
    return {(one.evaluator, one.conversation_id) for one in found if one.is_called_back}


def table(out: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("│")[1:4]] for line in out.splitlines() if line.startswith("│")]


def test_what_was_given_up_is_listed_with_its_reason(adhere: CommandLine, config: Path) -> None:
    shown = adhere("judging", "dead", "-c", config)
    one = adhere("judging", "dead", "clerk", "--conversation", "c-2", "-c", config)

    assert sorted(table(shown.out)) == sorted([name, f"c-{n}", "turn 1"] for name in NAMES for n in (1, 2))
    assert table(one.out) == [["clerk", "c-2", "turn 1"]]
    assert "too_long: It is over the judge's context." in one.out


def test_the_newest_are_listed_and_the_rest_is_told(adhere: CommandLine, config: Path) -> None:
    shown = adhere("judging", "dead", "clerk", "--limit", 1, "-c", config)

    assert len(table(shown.out)) == 1
    assert "There are more than these 1; --limit shows more." in shown.out


@pytest.mark.parametrize(
    ("arguments", "called", "out"),
    [
        (("clerk",), {("clerk", "c-1"), ("clerk", "c-2")}, "clerk: 2 to be asked again\n"),
        (("clerk", "--conversation", "c-2"), {("clerk", "c-2")}, "clerk: 1 to be asked again\n"),
        (
            ("--all", "--conversation", "c-1"),
            {("clerk", "c-1"), ("task_adherence", "c-1")},
            "task_adherence: 1 to be asked again\nclerk: 1 to be asked again\nrules: 0 to be asked again\n",
        ),
    ],
    ids=["evaluator", "conversation", "all"],
)
def test_what_is_chosen_is_to_be_asked_again(
    adhere: CommandLine, config: Path, arguments: tuple[str, ...], called: set[tuple[str, str]], out: str
) -> None:
    shown = adhere("judging", "retry", *arguments, "-c", config)
    again = adhere("judging", "retry", *arguments, "-c", config)
    listed = adhere("judging", "dead", "-c", config)

    assert (shown.code, shown.out) == (0, out)
    assert called_back(config) == called
    assert set(again.out.split()) & {"1", "2"} == set(), "it is called back already"
    assert listed.out.count("to be asked again; too_long") == len(called)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Name one evaluator, or give --all."),
        (("clerk", "--all"), "Name one evaluator, or give --all."),
        (("role_adherence",), "The configuration has no evaluator named 'role_adherence'; "),
        (("clark",), "no evaluator named 'clark'; did you mean 'clerk'?"),
    ],
    ids=["none", "both", "its kind", "typo"],
)
def test_arguments_that_cannot_work_are_named(
    adhere: CommandLine, config: Path, arguments: tuple[str, ...], message: str
) -> None:
    shown = adhere("judging", "retry", *arguments, "-c", config)

    assert shown.code == 2
    assert message in shown.err
    assert called_back(config) == set()


def test_without_a_store_there_is_nothing_and_none_is_made(adhere: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "adhere.yaml"
    path.write_text(f"data_dir: {tmp_path / 'data'}\nevaluators: [rules]")

    listed, shown = adhere("judging", "dead", "-c", path), adhere("judging", "retry", "rules", "-c", path)

    assert listed.out == "There are no judgings that were given up.\n"
    assert shown.out == "rules: 0 to be asked again\n"
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_no_store_is_named_and_left_as_it_is(adhere: CommandLine, tmp_path: Path) -> None:
    path, file = tmp_path / "adhere.yaml", tmp_path / "verdicts.db"
    path.write_text(f"data_dir: {tmp_path}\nevaluators: [rules]")
    file.write_bytes(b"no database at all" * 100)

    shown = [adhere("judging", *command, "-c", path) for command in (("dead",), ("retry", "rules"))]

    assert [one.code for one in shown] == [1, 1]
    assert all("cannot be opened" in one.err and one.err.count("\n") == 1 for one in shown)
    assert file.read_bytes() == b"no database at all" * 100


def test_explain_says_how_to_have_it_asked_again(config: Path) -> None:
    with open_archive(DataDir(config.parent).verdicts) as archive:
        record = archive.explain("c-1")

    lines = _judging(refund_conversation(verified=True, conversation_id="c-1"), record, Calibrations())

    assert lines[-1] == (
        "  What clerk, task_adherence gave up is asked again by: adhere judging retry --all --conversation c-1"
    )


def test_the_help_says_when_and_what_for(adhere: CommandLine) -> None:
    shown = " ".join(adhere("judging", "retry", "--help").out.split())

    assert "Mend first what they failed of, which `adhere judging dead` shows." in shown
    assert "They are asked within a minute, or after the next start" in shown
