from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.honest_judge import honest
from tests.support.judge_reply import always, error
from tests.support.judge_server import JudgeServer
from tests.support.recordings import PIRATE, REFUND

RULE = "{name: identity first, before: issue_refund, require: verify_identity}"


def config(folder: Path, text: str) -> Path:
    path = folder / "adhere.yaml"
    path.write_text(text)
    return path


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_broken_rule_is_shown_with_its_evidence(adhere: CommandLine, tmp_path: Path) -> None:
    file = config(tmp_path, f"evaluators: [rules: {{rules: [{RULE}]}}]")

    shown = adhere("evaluate", "--config", file, REFUND)

    assert shown.code == 0
    assert "turn 1 · rules · fail" in shown.out
    assert "identity first" in shown.out
    assert '“issue_refund {"order_id": "B-2040", "amount": 24.9}”' in shown.out


def test_without_a_judge_the_model_evaluators_say_so(adhere: CommandLine, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"

    shown = adhere("evaluate", REFUND, "--output", output)

    outcomes = {(line["evaluator"], line["outcome"]) for line in lines(output)}
    assert shown.code == 0
    assert ("rules", "pass") in outcomes
    assert {outcome for evaluator, outcome in outcomes if evaluator != "rules"} == {"not_assessable"}
    assert "no_judge_configured" in shown.out
    assert "conversation_completeness" in shown.out, "nothing is cut where the output is no terminal"


def test_a_judge_on_the_command_line_is_asked(adhere: CommandLine, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    file = config(tmp_path, "evaluators: [{role_adherence: {on: conversation}}, {task_adherence: {on: conversation}}]")

    with JudgeServer(honest) as judge:
        shown = adhere(
            *("evaluate", "-c", file, PIRATE, REFUND, "-o", output),
            *("--judge-url", judge.base_url, "--model", "scripted-judge"),
        )

    found = {(line["evaluator"], line["outcome"]) for line in lines(output)}
    assert shown.code == 0
    assert found == {
        ("role_adherence", "fail"),
        ("role_adherence", "pass"),
        ("task_adherence", "fail"),
        ("task_adherence", "pass"),
    }
    assert len(judge.calls) == 4
    assert {call.body["model"] for call in judge.calls} == {"scripted-judge"}
    assert "role_adherence · fail" in shown.out


def test_a_judge_that_fails_is_an_error_and_never_a_score(adhere: CommandLine, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    file = config(tmp_path, "evaluators: [{task_adherence: {on: conversation}}]")

    with JudgeServer(always(error(401, "Incorrect API key provided: canary-key."))) as judge:
        shown = adhere("evaluate", "-c", file, REFUND, "-o", output, "--judge-url", judge.base_url)

    (line,) = lines(output)
    assert (line["outcome"], line["score"]) == ("error", None)
    assert "1 without an answer" in shown.out
    assert "canary-key" not in shown.out + shown.err + output.read_text()


def test_results_that_cannot_be_written_are_a_sentence(adhere: CommandLine, tmp_path: Path) -> None:
    shown = adhere("evaluate", REFUND, "-o", tmp_path / "none" / "out.jsonl")

    assert shown.code == 1
    assert shown.err.startswith(f"Error: The results cannot be written to {tmp_path / 'none' / 'out.jsonl'}: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("evaluators: [{rules: {rulez: []}}]", "rulez"),
        ("evaluators: [nonsense]", "nonsense"),
        ("judge: {model: 3, key: x}", "judge.key is not a known key"),
    ],
    ids=["option", "evaluator", "judge"],
)
def test_a_broken_configuration_is_named(adhere: CommandLine, tmp_path: Path, text: str, problem: str) -> None:
    shown = adhere("evaluate", "-c", config(tmp_path, text), REFUND)

    assert shown.code == 2
    assert problem in shown.err
    assert all(line.startswith("Error: ") for line in shown.err.splitlines())


def test_a_broken_line_is_named(adhere: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text("{")

    shown = adhere("evaluate", file)

    assert shown.code == 2
    assert shown.err.startswith(f"Error: Line 1 of {file} ")
