from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import run_adhere
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.timeout(600)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_demo_flags_the_refund_and_leaves_nothing_behind(tmp_path: Path) -> None:
    shown = await run_adhere("demo", environ={"TMPDIR": str(tmp_path)}, timeout_s=200)

    assert shown.code == 0, shown.err
    assert shown.err == ""
    assert "FAIL" in shown.out
    assert "evidence: “issue_refund" in shown.out
    assert "not assessable, since no judge is configured" in shown.out
    assert "Where to go from here" in shown.out
    assert names_in(tmp_path) == set()


async def test_with_a_judge_the_turn_out_of_character_is_flagged(tmp_path: Path) -> None:
    with JudgeServer(honest) as judge:
        shown = await run_adhere(
            *("demo", "--judge-url", judge.base_url, "--model", "scripted-judge", "--keep"),
            environ={"TMPDIR": str(tmp_path)},
            timeout_s=200,
        )

    flagged = [line for line in shown.out.splitlines() if line.startswith("✘")]
    assert shown.code == 0, shown.err
    assert any("openllmetry_openai" in line and "role_adherence" in line for line in flagged)
    assert any("openai_v2" in line and "task_adherence" in line for line in flagged)
    assert "not assessable, since no judge" not in shown.out
    assert {call.body["model"] for call in judge.calls} == {"scripted-judge"}
    (kept,) = names_in(tmp_path)
    assert f"Kept: {tmp_path / kept}" in shown.out
    assert {"adhere.yaml", "adhere.log", "data"} <= names_in(tmp_path / kept)
