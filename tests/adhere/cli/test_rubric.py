"""Rubrics on the command line: seen, edited, exported, and taken back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evaluators.agent_rubric.shelf import RubricShelf, Shelved
from evaluators.strict_yaml import parse_yaml
from tests.support.agent_rubrics import PROMPT, robin, version_of
from tests.support.command_line import CommandLine
from tests.support.rubrics import rubric

VERSION, OTHER = version_of(robin()), version_of(robin(PROMPT + " Be brief.", agent="raven"))
COMPILED = rubric(
    {"name": "limit", "ask": "No refund is over 100 EUR.", "kind": "prohibition", "required": True, "source": "Never."},
    {"name": "verified", "ask": "The customer was verified.", "applies": "A refund is made."},
    combine="mean",
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    shelf = RubricShelf(tmp_path / "data" / "rubrics")
    shelf.keep(VERSION, COMPILED, about={"compiled_by": "small", "compiled_at": "2026-11-30T12:00:00+00:00"})
    shelf.keep(OTHER, COMPILED, about={"injection_suspected": True})
    path = tmp_path / "adhere.yaml"
    path.write_text(f"data_dir: {tmp_path / 'data'}\n")
    return path


def shelved(config: Path, key: str) -> Shelved:
    found = RubricShelf(config.parent / "data" / "rubrics").get(key)
    assert found is not None
    return found


def editor(folder: Path, body: str) -> str:
    """An editor that runs `body` on the file's text."""
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
        f"text = path.read_text()\n{body}\npath.write_text(text)\n"
    )
    return f"{sys.executable} {script}"


def test_all_rubrics_are_listed_by_agent(adhere: CommandLine, config: Path) -> None:
    lines = adhere("rubric", "list", "-c", config).out.splitlines()

    assert lines[0].startswith(f"{OTHER.key}  raven 7  2 criteria")
    assert lines[1] == f"{VERSION.key}  robin 7  2 criteria  compiled 2026-11-30T12:00:00+00:00"


def test_without_any_the_way_to_them_is_told(adhere: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "adhere.yaml"
    path.write_text(f"data_dir: {tmp_path / 'nothing'}\n")

    assert "configure the evaluator agent_rubric" in adhere("rubric", "list", "-c", path).out


@pytest.mark.parametrize("key", [VERSION.key, VERSION.key[:5], "robin"], ids=["key", "beginning", "agent"])
def test_one_is_shown_with_the_words_it_was_made_from(adhere: CommandLine, config: Path, key: str) -> None:
    shown = adhere("rubric", "show", key, "-c", config).out

    assert "compiled_by: small" in shown
    assert "limit (prohibition, required)\n  No refund is over 100 EUR.\n  source: 'Never.'" in shown
    assert "  applies: A refund is made." in shown


def test_a_prompt_that_may_steer_is_pointed_out(adhere: CommandLine, config: Path) -> None:
    assert "may try to steer" in adhere("rubric", "show", "raven", "-c", config).out


@pytest.mark.parametrize(
    ("key", "problem"),
    [("nobody", "There is no rubric nobody; see `adhere rubric list`."), ("", "is the beginning of")],
    ids=["unknown", "several"],
)
def test_what_is_not_one_rubric_is_refused(adhere: CommandLine, config: Path, key: str, problem: str) -> None:
    shown = adhere("rubric", "show", key, "-c", config)

    assert shown.code == 2
    assert problem in shown.err


def test_an_editor_changes_a_rubric(
    adhere: CommandLine, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, "text = text.replace('over 100 EUR', 'over 50 EUR')"))

    shown = adhere("rubric", "edit", "robin", "-c", config)

    assert shown.code == 0
    assert shelved(config, VERSION.key).is_edited
    assert shelved(config, VERSION.key).rubric.criteria[0].ask == "No refund is over 50 EUR."
    assert "edited" in adhere("rubric", "list", "-c", config).out


def test_an_editor_that_changes_nothing_changes_nothing(
    adhere: CommandLine, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, "pass"))

    assert "Nothing was changed." in adhere("rubric", "edit", "robin", "-c", config).out
    assert not shelved(config, VERSION.key).is_edited


def test_a_mistake_in_the_editor_is_told_and_changes_nothing(
    adhere: CommandLine, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, "text = text.replace('combine: mean', 'combine: sum')"))

    shown = adhere("rubric", "edit", "robin", "-c", config)

    assert shown.code == 2
    assert "rubric.combine is 'sum' and must be one of all, mean, min." in shown.err
    assert not shelved(config, VERSION.key).is_edited


def test_a_file_can_take_the_editors_place_for_all_versions(adhere: CommandLine, config: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("criteria: [The agent is kind.]\n")

    shown = adhere("rubric", "edit", "robin", "--file", file, "--all-versions", "-c", config)

    assert shown.code == 0
    assert shelved(config, VERSION.agent_key).rubric.criteria[0].ask == "The agent is kind."


def test_what_people_wrote_can_be_taken_back(adhere: CommandLine, config: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("criteria: [The agent is kind.]\n")
    adhere("rubric", "edit", "robin", "--file", file, "-c", config)

    first, second = (adhere("rubric", "restore", VERSION.key, "-c", config) for _ in range(2))

    assert (first.code, second.code) == (0, 2)
    assert "was not edited" in second.err
    assert shelved(config, VERSION.key).rubric.criteria[0].name == "limit"


def test_an_exported_rubric_is_one_of_peoples_own(adhere: CommandLine, config: Path, tmp_path: Path) -> None:
    file = tmp_path / "robin.yaml"
    adhere("rubric", "export", "robin", "-o", file, "-c", config)
    printed = adhere("rubric", "export", "robin", "-c", config).out
    own = tmp_path / "own.yaml"
    own.write_text(f"evaluators: [rubric: {{as: robin, file: '{file}'}}]\n")

    assert parse_yaml(printed) == parse_yaml(file.read_text())
    assert "judges robin on each conversation" in adhere("config", "check", own).out


def test_an_unreadable_file_is_named_and_can_be_taken_away(adhere: CommandLine, config: Path) -> None:
    broken = config.parent / "data" / "rubrics" / "edited" / f"{VERSION.key}.yaml"
    broken.parent.mkdir()
    broken.write_text("rubric: {criteria: [7]}\n")

    listed = adhere("rubric", "list", "-c", config)
    restored = adhere("rubric", "restore", VERSION.key, "-c", config)

    assert listed.code != 0
    assert str(broken) in listed.err
    assert restored.code == 0
    assert adhere("rubric", "list", "-c", config).code == 0
