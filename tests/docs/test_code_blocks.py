"""What stands in README and the documents works: configurations load, commands exist, Python runs."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from adhere.config import load_config
from adhere.run.checks import check_plan
from docs.generate.metrics import families
from tests.deploy.documents import rules
from tests.support.documented_commands import adhere_commands, check
from tests.support.documents import ROOT, Block, blocks, documents, params, write_rubrics
from tests.support.promql import series_in

REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)")
INLINE_COMMAND = re.compile(r"(?<!`)`(adhere (?:[a-z]+)[^`\n]*)`")
LANGUAGES = {"promql", "python", "sh", "text", "toml", "yaml", "yaml plug-in", "yaml rubric"}


def inline_commands() -> list[str]:
    found = {command for path in documents() for command in INLINE_COMMAND.findall(path.read_text(encoding="utf-8"))}
    return sorted(found)


@pytest.mark.parametrize("block", params("yaml"))
def test_a_configuration_loads_and_could_run(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rubrics(tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "adhere.yaml"
    path.write_text(block.text)
    environ = dict.fromkeys(REFERENCE.findall(block.text), "a-value-of-some-length")

    config = load_config(path, environ=environ)

    assert check_plan(config, environ=environ)


@pytest.mark.parametrize("block", params("sh"))
def test_commands_are_known_with_their_options(block: Block) -> None:
    for arguments in adhere_commands(block.text):
        check(arguments)


@pytest.mark.parametrize("command", inline_commands())
def test_commands_in_the_text_are_known(command: str) -> None:
    check(shlex.split(command)[1:], may_lack_arguments=True)


@pytest.mark.parametrize("block", params("toml"))
def test_toml_is_valid(block: Block) -> None:
    assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", params("promql"))
def test_queries_name_metrics_that_exist(block: Block) -> None:
    known = {*families(), *(rule["record"] for rule in rules() if "record" in rule), "adhere_metrics_source_up", "up"}

    assert series_in(block.text) <= known


def test_every_block_is_in_a_language_that_is_tested_or_plain_text() -> None:
    every = re.compile(r"^```([^\n`]+)$", re.MULTILINE)
    used = {name for path in documents() for name in every.findall(path.read_text(encoding="utf-8"))}

    assert used <= LANGUAGES


def test_the_commands_of_the_readme_are_those_of_continuous_integration() -> None:
    commands = [
        line
        for block in blocks("sh")
        if block.path.name == "README.md"
        for line in block.text.splitlines()
        if line.startswith("pip install uv && ")
    ]
    script = (ROOT / ".ci" / "run").read_text().replace("pip install --quiet uv", "pip install uv")

    assert len(commands) == 2
    assert all(command in script.splitlines() for command in commands)
