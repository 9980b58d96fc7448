from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, run_adhere

CANARY = "canary-77a"

BROKEN = {
    "key": (
        f"recievers: {{}}\njudge: {{api_key: {CANARY}}}",
        "recievers is not a known key; did you mean 'rec",
    ),
    "value": (f"shutdown_s: soon\njudge: {{api_key: {CANARY}}}", "shutdown_s is 'soon' and must be a number."),
    "secret of a wrong type": (f"judge: {{api_key: [{CANARY}]}}", "judge.api_key"),
    "secret in the wrong place": (f"judge: {{headers: {CANARY}}}", "judge.headers"),
    "no YAML": (f"judge: {{api_key: {CANARY}", "no valid YAML"),
    "evaluator": (f"judge: {{api_key: {CANARY}}}\nevaluators: [taks_adherence]", "taks_adherence"),
    "exporter": (f"judge: {{api_key: {CANARY}}}\nexporters: [kafka]", "kafka"),
    "relay": (f"relay: [{{endpoint: 'ftp://user:{CANARY}@tempo'}}]", "relay[0]: The endpoint ftp://tempo must begin"),
    "variable": ("judge: {api_key: '${env:NO_SUCH_KEY}'}", "the environment variable NO_SUCH_KEY is not set"),
}


@pytest.mark.parametrize("role", ["all", "collector", "evaluator"])
@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_a_broken_configuration_is_named_before_anything_is_opened(
    adhere: CommandLine, tmp_path: Path, text: str, named: str, role: str
) -> None:
    file = tmp_path / "adhere.yaml"
    file.write_text(f"data_dir: {tmp_path / 'data'}\n{text}\n")

    shown = adhere("run", "--config", file, "--role", role)

    assert (shown.code, shown.out) == (2, "")
    assert named in shown.err
    assert all(line.startswith("Error: ") for line in shown.err.splitlines())
    assert CANARY not in shown.err
    assert not (tmp_path / "data").exists()


async def test_a_broken_configuration_ends_the_process(tmp_path: Path) -> None:
    file = tmp_path / "adhere.yaml"
    file.write_text(f"data_dir: {tmp_path / 'data'}\nshutdown_s: soon\n")

    ended = await run_adhere("run", "--config", file)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (f"Error: {file}: shutdown_s is 'soon' and must be a number.\n")


def test_a_configuration_that_is_not_there_is_named(adhere: CommandLine, tmp_path: Path) -> None:
    shown = adhere("run", "--config", tmp_path / "none.yaml")

    assert shown.code == 2
    assert (
        shown.err == f"Error: The configuration {tmp_path / 'none.yaml'} cannot be read: No such file or directory; "
        "name one that can, or none for the defaults.\n"
    )


def test_an_unknown_role_is_named(adhere: CommandLine) -> None:
    shown = adhere("run", "--role", "judge")

    assert shown.code == 2
    assert "judge" in shown.err
