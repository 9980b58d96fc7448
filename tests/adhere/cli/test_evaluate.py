from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from adhere.cli.evaluate import Form, View
from adhere.cli.files import on_disk
from evaluators.formats import FORMAT_NAMES
from evaluators.views import VIEW_NAMES
from tests.support.command_line import CommandLine, Finished
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, always, error
from tests.support.judge_scripts import slow
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
    assert shown.code == 3
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


ROWS = [
    {"turns": [{"input": "You are a pirate.", "actual_output": "Arr."}]},
    {"turns": [{"input": "hello"}]},
    {"query": "You are a clerk.", "response": "As an AI I cannot."},
    {"messages": [{"role": "user", "content": "You are a poet."}, {"role": "assistant", "content": "O moon."}]},
]
ROLE = "evaluators: [role_adherence: {on: conversation}]"


def rows_in(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def judged(adhere: CommandLine, folder: Path, *arguments: object) -> tuple[Finished, list[dict[str, Any]]]:
    output = folder / "out.jsonl"
    with JudgeServer(honest) as judge:
        shown = adhere(
            *("evaluate", "-c", config(folder, ROLE), "-o", output, *arguments),
            *("--judge-url", judge.base_url, "--model", "scripted-judge"),
        )
    return shown, lines(output) if output.exists() else []


def test_rows_of_several_forms_are_judged_and_one_that_is_none_is_named(adhere: CommandLine, tmp_path: Path) -> None:
    shown, found = judged(adhere, tmp_path, rows_in(tmp_path, *ROWS))

    assert shown.code == 3
    assert [(line["row"], line.get("score")) for line in found] == [(1, 1.0), (3, 0.0), (4, 1.0), (2, None)]
    assert found[-1]["error"] == {
        "type": "MissingArgumentError",
        "message": "The argument turns[0].actual_output is missing.",
        "argument": "turns[0].actual_output",
    }
    assert "Row 2 of" in shown.out
    assert "3 conversations, 3 verdicts" in shown.out
    assert "67%" in shown.out


def test_the_numbers_of_the_table_are_there_as_json(adhere: CommandLine, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"

    judged(adhere, tmp_path, rows_in(tmp_path, *ROWS), "--summary", summary)

    found = json.loads(summary.read_bytes())
    role = found["evaluators"]["role_adherence"]
    assert (found["conversations"], found["verdicts"], found["rows_not_read"]) == (3, 3, 1)
    assert (role["pass_rate"], role["mean_score"], role["calls"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 3)
    assert role["outcomes"] == {"pass": 2, "fail": 1, "abstain": 0, "not_assessable": 0, "error": 0}
    assert role["input_tokens"] > 0


def test_columns_are_mapped(adhere: CommandLine, tmp_path: Path) -> None:
    rows = rows_in(tmp_path, {"question": "You are a pirate.", "given": {"answer": "Arr."}}, {"question": "Hello."})

    _, found = judged(adhere, tmp_path, rows, "--map", "query=question", "--map", "response=given.answer")

    assert found[0]["score"] == 1.0
    assert found[1]["error"]["argument"] == "given.answer"


def test_results_in_a_view_hold_its_fields_and_no_content(adhere: CommandLine, tmp_path: Path) -> None:
    rows = rows_in(tmp_path, {"conversation_id": "c-1", **ROWS[0]})

    _, found = judged(adhere, tmp_path, rows, "--view", "huawei")
    _, echoed = judged(adhere, tmp_path, rows, "--view", "huawei", "--echo")

    assert found == [
        {
            "file": "rows.jsonl",
            "row": 1,
            "conversation_id": "c-1",
            "evaluator": "role_adherence",
            "turn": None,
            "result": {"score": 1.0, "reason": "The agent kept its role."},
        }
    ]
    assert echoed[0]["echo"]["conversation"]["turns"][0]["output"] == "Arr."


def test_the_steps_of_each_verdict_are_printed_when_asked_for(adhere: CommandLine, tmp_path: Path) -> None:
    shown, _ = judged(adhere, tmp_path, rows_in(tmp_path, ROWS[0]), "--verbose")

    assert "  turn 0 user: You are a pirate." in shown.out
    assert "  turn 0 adheres: In character." in shown.out
    assert "  outcome: pass; score: 1.00; threshold: 0.8" in shown.out


@pytest.mark.parametrize(
    ("arguments", "row", "problem"),
    [
        (("--map", "query"), ROWS[0], "must be NAME=COLUMN"),
        (("--map", "query=a", "--map", "query=b"), ROWS[0], "gives 'query' twice"),
        (("--format", "chat"), ROWS[0], "Row 1: The value is not of the form 'chat'."),
        ((), {"nothing": 1}, "The value is no conversation in a known form"),
    ],
    ids=["mapping", "twice", "form", "nothing"],
)
def test_what_cannot_be_read_at_all_ends_the_command(
    adhere: CommandLine, tmp_path: Path, arguments: tuple[str, ...], row: object, problem: str
) -> None:
    shown, _ = judged(adhere, tmp_path, rows_in(tmp_path, row), *arguments)

    assert shown.code == 2
    assert problem in shown.err


def test_a_batch_asks_many_at_once(adhere: CommandLine, tmp_path: Path) -> None:
    rows = [{"turns": [{"input": f"You are pirate {n}.", "actual_output": "Arr."}]} for n in range(40)]
    with JudgeServer(slow) as judge:
        shown = adhere(
            *("evaluate", "-c", config(tmp_path, ROLE), rows_in(tmp_path, *rows)),
            *("--judge-url", judge.base_url, "--model", "scripted-judge"),
        )

    assert shown.code == 0
    assert 20 <= judge.in_flight_peak <= 32


def test_the_choices_of_the_command_are_those_that_there_are() -> None:
    assert {form.value for form in Form} == set(FORMAT_NAMES)
    assert {view.value for view in View} == set(VIEW_NAMES)


def test_answers_that_are_kept_in_a_folder_are_asked_for_once(adhere: CommandLine, tmp_path: Path) -> None:
    output, cache = tmp_path / "out.jsonl", tmp_path / "cache"
    with JudgeServer(honest) as judge:
        for _ in range(2):
            shown = adhere(
                *("evaluate", "-c", config(tmp_path, ROLE), rows_in(tmp_path, ROWS[0]), "--cache", cache, "-o", output),
                *("--judge-url", judge.base_url, "--model", "scripted-judge"),
            )

    assert shown.code == 0
    assert len(judge.calls) == 1
    assert lines(output)[0]["score"] == 1.0
    assert cache.stat().st_mode & 0o077 == 0


PAIR = b'{"turns": [{"input": "Hello.", "actual_output": "Good day."}]}'


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(b"\xef\xbb\xbf" + PAIR, id="byte order mark"),
        pytest.param(b'{"turns": [\n' + PAIR, id="broken first line"),
    ],
)
def test_the_first_line_does_not_cost_the_others(adhere: CommandLine, tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(first + b"\n" + PAIR.replace(b"Hello", b"Bye") + b"\n")

    _, found = judged(adhere, tmp_path, path)

    assert [line["row"] for line in found if "error" not in line] == [first.count(b"\n") + 1, first.count(b"\n") + 2]


@pytest.mark.parametrize("content", [PAIR, REFUND.read_bytes()], ids=["rows", "telemetry"])
def test_what_comes_by_a_pipe_is_read_whole(adhere: CommandLine, tmp_path: Path, content: bytes) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()

    shown, found = judged(adhere, tmp_path, pipe)
    writer.join()

    assert shown.code == 0
    assert found


def test_a_dash_is_standard_input() -> None:
    with on_disk(Path("-")) as source:
        assert source.read_bytes() == b""  # Tests have none.


def test_each_result_is_written_while_others_are_judged(adhere: CommandLine, tmp_path: Path) -> None:
    rows = [{"turns": [{"input": f"You are pirate {n}.", "actual_output": "Arr."}]} for n in range(6)]
    output = tmp_path / "out.jsonl"
    written: list[int] = []

    def watching(call: JudgeCall) -> Reply:
        written.append(len(lines(output)))
        return honest(call)

    with JudgeServer(watching) as judge:
        adhere(
            *("evaluate", "-c", config(tmp_path, ROLE), rows_in(tmp_path, *rows), "-o", output, "--concurrency", 1),
            *("--judge-url", judge.base_url, "--model", "scripted-judge"),
        )

    assert written[0] == 0
    assert written[-1] >= 1
    assert len(lines(output)) == len(rows)


def test_results_that_cannot_be_written_are_known_before_a_judge_is_asked(adhere: CommandLine, tmp_path: Path) -> None:
    with JudgeServer(honest) as judge:
        shown = adhere(
            *(
                "evaluate",
                "-c",
                config(tmp_path, ROLE),
                rows_in(tmp_path, ROWS[0]),
                "-o",
                tmp_path / "no" / "out.jsonl",
            ),
            *("--judge-url", judge.base_url, "--model", "scripted-judge"),
        )

    assert shown.code == 1
    assert judge.calls == []


def test_a_budget_holds_for_a_run_without_a_folder(adhere: CommandLine, tmp_path: Path) -> None:
    rows = [{"turns": [{"input": f"You are pirate {n}.", "actual_output": "Arr."}]} for n in range(8)]
    with JudgeServer(honest) as judge:
        text = f"judge: {{model: m, base_url: '{judge.base_url}', budget: {{tokens_per_day: 15000}}}}\n{ROLE}"
        shown = adhere("evaluate", "-c", config(tmp_path, text), rows_in(tmp_path, *rows))

    assert shown.code == 3
    assert 1 <= len(judge.calls) < len(rows)
    assert f"{len(rows) - len(judge.calls)} without an answer: budget_exhausted" in shown.out


@pytest.mark.parametrize("option", ["--output", "--summary"])
def test_a_data_set_is_not_written_over(adhere: CommandLine, tmp_path: Path, option: str) -> None:
    rows = rows_in(tmp_path, ROWS[0])
    before = rows.read_bytes()

    shown = adhere("evaluate", rows, option, rows.parent / "." / rows.name)

    assert shown.code == 2
    assert "is both read and written" in shown.err
    assert rows.read_bytes() == before
