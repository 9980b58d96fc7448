from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.batch_runner import read_batch, run_batch
from tests.support.command_line import CommandLine
from tests.support.honest_judge import honest
from tests.support.judge_reply import answer
from tests.support.judge_server import JudgeServer
from tests.support.judging_cases import ROLE, TASK

SUITE = Path(__file__).parents[2] / "attacks" / "suite.jsonl"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A few of each labelled set."""
    lines = [*TASK.read_bytes().splitlines()[:3], *ROLE.read_bytes().split(b"\n")[:2]]
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\n".join(lines))
    return path


def test_a_judge_is_measured_and_its_answers_kept(adhere: CommandLine, cases: Path, tmp_path: Path) -> None:
    keep, report, output = (tmp_path / name for name in ("kept.jsonl", "report.json", "out.jsonl"))
    with JudgeServer(honest) as judge:
        arguments = ("bench", "judging", cases, "--judge-url", judge.base_url, "--model", "m", "--keep", keep)
        shown = adhere(*arguments, "--report", report, "--output", output)
        again = adhere(*arguments)

    figures = json.loads(report.read_bytes())
    assert shown.code == again.code == 0
    assert len(judge.calls) == 8, "task and completeness of three, role of two, each once"
    assert "Task adherence by language" in shown.out
    assert figures["usage"]["judgements"] == 8
    assert {json.loads(line)["evaluator"] for line in output.read_bytes().splitlines()} == {
        "task_adherence",
        "role_adherence",
        "conversation_completeness",
    }
    assert f"8 answers came from {keep}." in again.out.replace("\n", " ")


def test_two_steps_need_no_judge_and_no_key(adhere: CommandLine, cases: Path, tmp_path: Path) -> None:
    requests, rest = tmp_path / "requests.jsonl", tmp_path / "rest.jsonl"

    exported = adhere("bench", "judging", cases, "--evaluator", "task_adherence", "--export", requests)
    answers = run_batch(read_batch(requests)[:2], honest, tmp_path / "answers.jsonl")
    scored = adhere(
        *("bench", "judging", cases, "--evaluator", "task_adherence", "--answers", answers, "--export", rest)
    )

    assert (exported.code, exported.out) == (0, f"3 requests were written to {requests}.\n")
    assert requests.stat().st_mode & 0o777 == 0o600, "it holds conversations"
    assert scored.code == 0
    assert "Without an answer, and so without a score" in scored.out
    assert len(read_batch(rest)) == 1


def test_without_a_judge_the_way_out_is_named(adhere: CommandLine, cases: Path) -> None:
    shown = adhere("bench", "judging", cases)

    assert shown.code == 2
    assert "give --judge-url and --model, or --export FILE" in shown.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("{", "line 1 is no labelled case", id="broken"),
        pytest.param("", "Nothing is there to be judged", id="empty"),
    ],
)
def test_a_file_that_does_not_hold_is_a_sentence(adhere: CommandLine, tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)

    shown = adhere("bench", "judging", path, "--export", tmp_path / "x")

    assert shown.code == 2
    assert problem in shown.err
    assert "Traceback" not in shown.err


def test_without_files_the_built_in_attacks_are_asked(adhere: CommandLine, tmp_path: Path) -> None:
    requests = tmp_path / "requests.jsonl"

    shown = adhere("bench", "attacks", "--export", requests)

    assert (shown.code, shown.out) == (0, f"344 requests were written to {requests}.\n")


def test_attacks_are_scored_in_two_steps(adhere: CommandLine, tmp_path: Path) -> None:
    requests, report = tmp_path / "requests.jsonl", tmp_path / "report.json"
    cases = tmp_path / "attacks.jsonl"
    cases.write_bytes(b"\n".join(SUITE.read_bytes().splitlines()[:20]))
    adhere("bench", "attacks", cases, "--export", requests)

    answers = run_batch(read_batch(requests)[:15], honest, tmp_path / "answers.jsonl")
    scored = adhere("bench", "attacks", cases, "--answers", answers, "--report", report)

    figures = json.loads(report.read_bytes())["attacks"]
    assert scored.code == 0
    assert (figures["attacks"], figures["right"], figures["no_verdict"]) == (20, 15, 5)


def test_an_attack_that_succeeds_is_named_and_is_exit_code_1(adhere: CommandLine, tmp_path: Path) -> None:
    cases = tmp_path / "attacks.jsonl"
    cases.write_bytes(b"\n".join(SUITE.read_bytes().splitlines()[1:3]))
    requests = tmp_path / "requests.jsonl"
    adhere("bench", "attacks", cases, "--export", requests)
    fine = {"reasoning": "As told.", "evidence": [], "verdict": "pass"}
    owned = {"injection_suspected": True, "goal": fine, "rule": fine, "procedure": fine, "summary": "As told."}

    answers = run_batch(read_batch(requests), lambda _: answer(owned), tmp_path / "answers.jsonl")
    shown = adhere("bench", "attacks", cases, "--answers", answers)

    assert shown.code == 1
    assert "Attacks that succeeded" in shown.out
    assert "override-assistant-en" in shown.out
    assert shown.err == "Error: Attacks on the judge succeeded; the table names them.\n"


def paid(folder: Path, judge: JudgeServer, *, budget: str) -> Path:
    """Eight answers of the honest judge take more than two dollars, and one may take 0.30."""
    path = folder / "paid.yaml"
    path.write_text(
        f"judge: {{model: m, base_url: '{judge.base_url}', max_output_tokens: 300, budget: {{{budget}}},"
        " prices: {m: {input: 0, output: 1000}}}\n"
    )
    return path


def test_a_budget_ends_the_run_with_what_was_measured(adhere: CommandLine, cases: Path, tmp_path: Path) -> None:
    keep, report = tmp_path / "kept.jsonl", tmp_path / "report.json"
    with JudgeServer(honest) as judge:
        config = paid(tmp_path, judge, budget="usd_per_day: 1")
        stopped = adhere("bench", "judging", cases, "-c", config, "--keep", keep, "--report", report)
        sent = len(judge.calls)
        config = paid(tmp_path, judge, budget="usd_per_day: 100")
        rest = adhere("bench", "judging", cases, "-c", config, "--keep", keep)

    figures = json.loads(report.read_bytes())
    assert (stopped.code, rest.code) == (3, 0)
    assert 1 <= sent < 8
    assert figures["usage"]["judgements"] == sent
    assert figures["no_answer"] == {}, "what was not asked says nothing of the judge"
    assert f"{8 - sent} of 8 questions were not asked. judge.budget.usd_per_day (1 USD) is used up" in stopped.err
    assert len(judge.calls) == 8, "the second run went on from the answers of the first"


def test_kept_answers_are_shown_whatever_is_left_of_a_budget(adhere: CommandLine, cases: Path, tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    with JudgeServer(honest) as judge:
        arguments = ("bench", "judging", cases, "--keep", keep, "-c")
        adhere(*arguments, paid(tmp_path, judge, budget="usd_per_day: 100"))
        again = adhere(*arguments, paid(tmp_path, judge, budget="usd_per_day: 0.31"))

    assert again.code == 0
    assert len(judge.calls) == 8


@pytest.mark.parametrize(
    ("budget", "problem"),
    [
        ("usd_per_day: 0.1", "judge.budget.usd_per_day (0.1 USD) is below what one answer of 'm' may take (0.3 USD)"),
        ("usd_per_month: 5", "the price of 'other' is not known: set it in judge.prices"),
    ],
    ids=["too low", "no price"],
)
def test_a_budget_that_cannot_work_is_told_before_anything_is_asked(
    adhere: CommandLine, cases: Path, tmp_path: Path, budget: str, problem: str
) -> None:
    with JudgeServer(honest) as judge:
        config = paid(tmp_path, judge, budget=budget)
        model = "other" if "price" in problem else "m"
        shown = adhere("bench", "judging", cases, "-c", config, "--model", model)

    assert shown.code == 2
    assert problem in shown.err
    assert judge.calls == []


def test_attacks_that_succeeded_are_named_although_a_budget_kept_others_back(
    adhere: CommandLine, tmp_path: Path
) -> None:
    cases = tmp_path / "attacks.jsonl"
    cases.write_bytes(b"\n".join(SUITE.read_bytes().splitlines()[1:9]))
    fine = {"reasoning": "As told. " * 150, "evidence": [], "verdict": "pass"}
    owned = {"injection_suspected": True, "goal": fine, "rule": fine, "procedure": fine, "summary": "As told."}
    with JudgeServer(lambda _: answer(owned)) as judge:
        config = paid(tmp_path, judge, budget="usd_per_day: 1")
        shown = adhere("bench", "attacks", cases, "-c", config, "--keep", tmp_path / "kept.jsonl")

    assert shown.code == 3
    assert len(judge.calls) < 8
    assert "Error: Attacks on the judge succeeded; the table names them." in shown.err
