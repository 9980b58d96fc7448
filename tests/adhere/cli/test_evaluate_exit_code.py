"""What a build can go by: 0 whole, 1 too few pass, 3 something is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, Finished
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, error
from tests.support.judge_server import JudgeServer

KEPT = {"turns": [{"input": "You are a pirate.", "actual_output": "Arr."}]}
LEFT = {"query": "You are a clerk.", "response": "As an AI I cannot."}
UNREADABLE = {"turns": [{"input": "hello"}]}
PARROT = {"turns": [{"input": "You are a parrot.", "actual_output": "Hello!"}]}


def no_parrots(call: JudgeCall) -> Reply:
    return error(400, "No parrots.") if "parrot" in str(call.body) else honest(call)


def judged(adhere: CommandLine, folder: Path, rows: list[object], *arguments: object) -> Finished:
    file, config = folder / "rows.jsonl", folder / "adhere.yaml"
    file.write_text("\n".join(map(json.dumps, rows)))
    config.write_text("evaluators: [role_adherence: {on: conversation}]")
    with JudgeServer(no_parrots) as judge:
        return adhere(
            *("evaluate", "-c", config, file, "--judge-url", judge.base_url, "--model", "scripted-judge"), *arguments
        )


@pytest.mark.parametrize(
    ("rows", "arguments", "code", "told"),
    [
        ([KEPT, LEFT], (), 0, ""),
        ([KEPT, UNREADABLE], (), 3, "1 of 2 rows could not be read: mend what is named above"),
        ([KEPT, PARROT], (), 3, "1 of 2 verdicts are errors (rejected 1): mend what is named above"),
        ([PARROT, UNREADABLE], (), 3, "1 of 2 rows could not be read and 1 of 1 verdicts are errors (rejected 1): "),
        ([KEPT, PARROT, UNREADABLE], ("--allow-errors",), 0, ""),
        ([KEPT, LEFT], ("--fail-under", 0.5), 0, ""),
        ([KEPT, LEFT], ("--fail-under", 0.6), 1, "1 of 2 scored verdicts of role_adherence pass, under --fail-under 0"),
        ([KEPT, LEFT, PARROT], ("--fail-under", 0.6, "--allow-errors"), 1, "1 of 2 scored verdicts of role_adherence"),
        ([KEPT, LEFT, PARROT], ("--fail-under", 0.6), 3, "1 of 2 scored verdicts of role_adherence pass"),
        ([PARROT], ("--fail-under", 0, "--allow-errors"), 1, "No verdict of role_adherence has a score"),
        ([], (), 3, "Nothing was judged, since the files hold no conversation"),
        ([], ("--fail-under", 0.6), 3, "Nothing was judged, since the files hold no conversation"),
        ([], ("--allow-errors",), 0, ""),
        ([], ("--fail-under", 0.6, "--allow-errors"), 1, "Nothing was judged, and --fail-under 0.6 wants verdicts"),
    ],
    ids=[
        "whole",
        "row not read",
        "judge refused",
        "both",
        "allowed",
        "enough pass",
        "too few pass",
        "too few pass of those answered",
        "missing comes first",
        "nothing scored",
        "nothing judged",
        "nothing judged, of which a share is wanted",
        "nothing judged, allowed",
        "nothing judged, allowed, of which a share is wanted",
    ],
)
def test_the_exit_code_says_how_it_went(
    adhere: CommandLine, tmp_path: Path, rows: list[object], arguments: tuple[object, ...], code: int, told: str
) -> None:
    shown = judged(adhere, tmp_path, rows, *arguments)

    assert shown.code == code, shown.err
    assert told in shown.err
    assert bool(shown.err) is (code != 0)


def test_what_there_is_was_written_when_a_part_is_missing(adhere: CommandLine, tmp_path: Path) -> None:
    output, summary = tmp_path / "out.jsonl", tmp_path / "summary.json"

    shown = judged(adhere, tmp_path, [KEPT, PARROT, UNREADABLE], "-o", output, "--summary", summary)

    found = [json.loads(line) for line in output.read_bytes().splitlines()]
    assert shown.code == 3
    assert [line.get("outcome") for line in found] == ["pass", "error", None]
    assert json.loads(summary.read_bytes())["rows_not_read"] == 1
    assert shown.err.count("\n") == 1
    assert shown.err.endswith("run it again, or accept them with --allow-errors.\n")


def test_without_a_judge_a_build_does_not_pass(adhere: CommandLine, tmp_path: Path) -> None:
    file, config = tmp_path / "rows.jsonl", tmp_path / "adhere.yaml"
    file.write_text(json.dumps(KEPT))
    config.write_text("evaluators: [role_adherence: {on: conversation}, rules]")

    plain, wanted = adhere("evaluate", "-c", config, file), adhere("evaluate", "-c", config, file, "--fail-under", 0.9)

    assert plain.code == 0
    assert wanted.code == 1
    assert wanted.err == "Error: No verdict of role_adherence has a score, and --fail-under 0.9 wants one.\n"
