from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.command_line import Finished, run_adhere
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judge_server import JudgeServer

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]

LONG_S = 400.0


@dataclass(frozen=True, slots=True)
class Demos:
    """One without a judge, and one with it that keeps its folder."""

    plain: Finished
    judged: Finished
    calls: list[JudgeCall]
    left: set[str]
    kept: Path
    kept_names: set[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def demos(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demos]:
    """At the same time, as each of them waits a while."""
    plain, judged = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("judged")
    with JudgeServer(honest) as judge:
        with_judge = ("--judge-url", judge.base_url, "--model", "scripted-judge", "--keep")
        finished = await asyncio.gather(
            run_adhere("demo", environ={"TMPDIR": str(plain)}, timeout_s=LONG_S),
            run_adhere("demo", *with_judge, environ={"TMPDIR": str(judged)}, timeout_s=LONG_S),
        )
        (kept,) = names_in(judged)
        yield Demos(*finished, judge.calls, names_in(plain), judged / kept, names_in(judged / kept))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_demo_flags_the_refund_and_leaves_nothing_behind(demos: Demos) -> None:
    shown = demos.plain

    assert (shown.code, shown.err) == (0, "")
    assert "FAIL" in shown.out
    assert "evidence: “issue_refund" in shown.out
    assert "not assessable, since no judge is configured" in shown.out
    assert "Where to go from here" in shown.out
    assert demos.left == set()


async def test_with_a_judge_the_turn_out_of_character_is_flagged(demos: Demos) -> None:
    shown = demos.judged

    flagged = [line for line in shown.out.splitlines() if line.startswith("✘")]
    assert (shown.code, shown.err) == (0, "")
    assert any("openllmetry_openai" in line and "role_adherence" in line for line in flagged)
    assert any("openai_v2" in line and "task_adherence" in line for line in flagged)
    assert "not assessable, since no judge" not in shown.out
    assert {call.body["model"] for call in demos.calls} == {"scripted-judge"}


async def test_what_is_kept_is_named(demos: Demos) -> None:
    assert f"Kept: {demos.kept}" in demos.judged.out
    assert {"adhere.yaml", "adhere.log", "data"} <= demos.kept_names
