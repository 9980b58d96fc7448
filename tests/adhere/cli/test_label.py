from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.support.batch_runner import read_batch, run_batch
from tests.support.command_line import CommandLine
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.judging_cases import TASK
from tests.support.recordings import PIRATE, REFUND


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch):
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "adhere.yaml"
    path.write_text(f"data_dir: {tmp_path / 'data'}\nevaluators: [task_adherence: {{on: conversation}}]\n")
    return path


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_each_answer_is_saved_and_the_command_goes_on(adhere: CommandLine, tmp_path: Path, type_in) -> None:
    labels = tmp_path / "labels.jsonl"

    type_in("x\nf\nNo check before the refund.\nq\n")
    first = adhere("label", labels, "--from", REFUND, "--from", PIRATE, "--seed", 1)
    type_in("b\np\nu\n")
    second = adhere("label", labels)

    assert (first.code, second.code) == (0, 0)
    assert "2 units were written to" in first.out
    assert "0 pass, 1 fail, 0 unsure, 1 without a label." in first.out
    assert "1 of 2" in second.out
    assert [row["label"] for row in rows(labels)] == ["pass", "unsure"]


def test_labels_are_put_in_with_an_editor_and_the_judge_is_measured_in_two_steps(
    adhere: CommandLine, tmp_path: Path, settings: Path
) -> None:
    labels, requests, report = (tmp_path / name for name in ("labels.jsonl", "requests.jsonl", "report.json"))
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(f"{json.dumps(row['conversation'])}\n" for row in rows(TASK)[:6]))

    written = adhere("label", labels, "--from", cases, "--write-only", "-c", settings)
    filled = [row | {"label": "pass" if number % 2 else "fail"} for number, row in enumerate(rows(labels))]
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in filled))
    exported = adhere("calibrate", labels, "-c", settings, "--export", requests)
    answers = run_batch(read_batch(requests), honest, tmp_path / "answers.jsonl")
    scored = adhere("calibrate", labels, "-c", settings, "--answers", answers, "--report", report)

    found = json.loads(report.read_bytes())["agreement"]["all"]
    assert (written.code, exported.code, scored.code) == (0, 0, 0)
    assert "6 without a label" in written.out
    assert found["caught"] + found["missed"] == found["cleared"] + found["false_alarms"] == 3
    assert "6 labels are few" in scored.out
    assert "Kept in" in scored.out


def test_what_was_measured_is_shown_by_later_reports(
    adhere: CommandLine, tmp_path: Path, settings: Path, type_in
) -> None:
    labels, keep = tmp_path / "labels.jsonl", tmp_path / "kept.jsonl"

    type_in("f\n\n")
    adhere("label", labels, "--from", REFUND, "-c", settings)
    with JudgeServer(honest) as judge:
        asked = ("-c", settings, "--judge-url", judge.base_url, "--model", "judge-1")
        calibrated = adhere("calibrate", labels, *asked, "--keep", keep)
        evaluated = adhere("evaluate", REFUND, *asked)
        another = adhere("evaluate", REFUND, *asked[:-1], "judge-2")

    assert (calibrated.code, evaluated.code) == (0, 0)
    assert "task_adherence by judge-1, measured on 1 labels: sensitivity 1.00. Failed 100%." in evaluated.out
    assert "measured on" not in another.out


def test_without_conversations_the_way_out_is_named(adhere: CommandLine, tmp_path: Path, settings: Path) -> None:
    shown = adhere("label", tmp_path / "labels.jsonl", "-c", settings)

    assert shown.code == 2
    assert "Name files of conversations with --from." in shown.err


def test_a_file_without_labels_cannot_measure(adhere: CommandLine, tmp_path: Path, settings: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    adhere("label", labels, "--from", REFUND, "--write-only", "-c", settings)

    shown = adhere("calibrate", labels, "-c", settings)

    assert shown.code == 2
    assert "No unit has the label pass or fail" in shown.err


def test_a_budget_ends_a_calibration_with_what_was_measured_and_keeps_no_result(
    adhere: CommandLine, tmp_path: Path
) -> None:
    cases, labels = tmp_path / "cases.jsonl", tmp_path / "labels.jsonl"
    cases.write_text("".join(f"{json.dumps(row['conversation'])}\n" for row in rows(TASK)[:6]))
    with JudgeServer(honest) as judge:
        config = tmp_path / "paid.yaml"
        config.write_text(
            f"data_dir: {tmp_path / 'data'}\nevaluators: [task_adherence: {{on: conversation}}]\n"
            f"judge: {{model: m, base_url: '{judge.base_url}', max_output_tokens: 300, budget: {{usd_per_day: 0.35}},"
            " prices: {m: {input: 0, output: 1000}}}\n"
        )
        adhere("label", labels, "--from", cases, "--write-only", "-c", config)
        labels.write_text("".join(f"{json.dumps(row | {'label': 'pass'})}\n" for row in rows(labels)))
        shown = adhere("calibrate", labels, "-c", config, "--keep", tmp_path / "kept.jsonl")

    assert shown.code == 3
    assert 1 <= len(judge.calls) < 6
    assert f"{len(judge.calls)} labels are few" in shown.out
    assert f"{6 - len(judge.calls)} of 6 questions were not asked. judge.budget.usd_per_day" in shown.err
    assert "Kept in" not in shown.out
    assert not (tmp_path / "data").exists()
