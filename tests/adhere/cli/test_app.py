from __future__ import annotations

from importlib.metadata import version

import pytest

from tests.support.command_line import CommandLine, run_adhere

COMMANDS = ["run", "demo", "reconstruct", "evaluate", "explain", "replay", "judging", "config"]


def test_the_version_is_that_of_the_distribution(adhere: CommandLine) -> None:
    assert adhere("--version").out == f"adhere {version('adhere')}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_command(adhere: CommandLine, option: str) -> None:
    shown = adhere(option)

    assert shown.code == 0
    assert all(f"  {command} " in shown.out for command in COMMANDS)


@pytest.mark.parametrize("command", [[name] for name in COMMANDS] + [["config", "check"], ["config", "schema"]])
def test_every_command_explains_itself(adhere: CommandLine, command: list[str]) -> None:
    shown = adhere(*command, "--help")

    assert shown.code == 0
    assert shown.out.startswith("Usage: adhere ")
    assert "[OPTIONS]" in shown.out or "COMMAND" in shown.out


@pytest.mark.parametrize("group", ["config", "exporters", "rubric", "bench"])
def test_a_group_names_its_commands_in_full(adhere: CommandLine, group: str) -> None:
    shown = adhere(group, "--help")

    assert "..." not in shown.out.partition("Commands:")[2]
    assert "completion" not in shown.out


def test_without_arguments_help_is_shown(adhere: CommandLine) -> None:
    shown = adhere()

    assert "Commands" in shown.out + shown.err


def test_an_unknown_command_is_named(adhere: CommandLine) -> None:
    shown = adhere("evalute")

    assert shown.code == 2
    assert "evalute" in shown.err


def test_an_unknown_option_is_named(adhere: CommandLine) -> None:
    shown = adhere("run", "--confg", "x")

    assert shown.code == 2
    assert "--confg" in shown.err


async def test_it_runs_as_a_module_of_its_own_distribution() -> None:
    shown = await run_adhere("--version")

    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"adhere {version('adhere')}\n"
