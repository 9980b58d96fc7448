from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from evaluators.pipeline.limits import PipelineLimits
from evaluators.verdict import DecisionKind, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup
from tests.support.judging_process import CONCURRENCY
from tests.support.until import advance_until, until
from tests.support.verdict_sink import KeepingSink

UNITS = 60
REPOSITORY = Path(__file__).parents[3]


def unit_of(conversation_id: str):
    return turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))


def crash_image(folder: Path, name: str) -> Path:
    """The store as a death of the process at this moment leaves it."""
    image = folder / name
    image.mkdir()
    for part in folder.glob("verdicts.sqlite*"):
        shutil.copy(part, image / part.name)
    return image


async def test_what_waits_is_judged_after_a_restart_without_being_submitted_again(tmp_path):
    held, free = ScriptedEvaluator(hold=True), ScriptedEvaluator()
    async with judging(tmp_path, setup(held)) as found:
        for n in range(3):
            await found.pipeline.submit(unit_of(f"c{n}"))
        await until(lambda: len(held.asked) == 3)
        image = crash_image(tmp_path, "crashed")

    async with judging(image, setup(free)) as found:
        await found.pipeline.drain()

    assert {verdict.conversation_id for verdict in found.sink.verdicts} == {"c0", "c1", "c2"}
    assert found.metric("adhere_judging_recovered_total") == 3


async def test_a_finished_judging_is_not_made_again_and_its_verdict_is_handed_over(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator()), sink=KeepingSink(refuse_first=1_000_000)) as found:
        await found.pipeline.submit(unit_of("c0"))
        await until(lambda: found.metric("adhere_judging_verdicts_total") == 1)
        image = crash_image(tmp_path, "crashed")

    again = ScriptedEvaluator()
    async with judging(image, setup(again)) as found:
        await found.pipeline.submit(unit_of("c0"))
        await found.pipeline.drain()

    assert again.asked == []
    assert [verdict.conversation_id for verdict in found.sink.verdicts] == ["c0"]


async def test_an_orderly_stop_is_no_interruption(tmp_path):
    for _ in range(PipelineLimits().max_interruptions + 1):
        evaluator = ScriptedEvaluator(hold=True)
        async with judging(tmp_path, setup(evaluator)) as found:
            await found.pipeline.submit(unit_of("c0"))
            await until(lambda evaluator=evaluator: len(evaluator.asked) == 1)

    async with judging(tmp_path, setup(ScriptedEvaluator())) as found:
        await found.pipeline.drain()

    assert [verdict.outcome for verdict in found.sink.verdicts] == [Outcome.PASS]


@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "waiting"])
async def test_a_unit_that_kills_the_process_is_given_up_in_the_end(tmp_path, immediate):
    limits = replace(PipelineLimits(), max_interruptions=2)
    folder = tmp_path
    for n in range(2):
        evaluator = ScriptedEvaluator(hold=True)
        async with judging(folder, setup(evaluator, immediate=immediate), limits=limits) as found:
            await found.pipeline.submit(unit_of("deadly"))
            await advance_until(found.clock, lambda evaluator=evaluator: len(evaluator.asked) == 1, step_s=5)
            folder = crash_image(folder, f"crash{n}")

    innocent = ScriptedEvaluator()
    async with judging(folder, setup(innocent, immediate=immediate), limits=limits) as found:
        await found.pipeline.submit(unit_of("deadly"))
        await found.pipeline.submit(unit_of("other"))
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 2, step_s=5)
        record = await found.explain("deadly")

    assert [unit.conversation.conversation_id for unit in innocent.asked] == ["other"]
    assert record.decisions[-1].decision.kind is DecisionKind.FAILED
    assert record.decisions[-1].verdict.error_type == "interrupted"


async def test_work_of_an_evaluator_that_is_gone_is_decided(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator(name="gone", hold=True))) as found:
        await found.pipeline.submit(unit_of("c0"))
        await until(lambda: found.metric("adhere_judging_in_flight") == 1)

    async with judging(tmp_path, setup(ScriptedEvaluator(name="new"))) as found:
        await found.pipeline.drain()
        record = await found.explain("c0")

    assert [entry.decision.kind for entry in record.decisions] == [DecisionKind.FILTERED]
    assert record.waiting == ()


async def test_waiting_work_is_judged_by_the_versions_in_force_when_it_is_judged(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator(hold=True))) as found:
        await found.pipeline.submit(unit_of("c0"))
        await until(lambda: found.metric("adhere_judging_in_flight") == 1)

    async with judging(tmp_path, setup(ScriptedEvaluator(rubric_version="r2"))) as found:
        await found.pipeline.drain()
        await found.pipeline.submit(unit_of("c0"))
        await found.pipeline.drain()
        record = await found.explain("c0")

    assert [verdict.rubric_version for verdict in found.sink.verdicts] == ["r2"]
    assert len(record.decisions) == 1


def test_kills_lose_nothing_and_pay_only_for_what_was_under_way(tmp_path):
    random = Random(11)
    kills = 3

    killed = [run(tmp_path, kill_after_s=random.uniform(0.02, 0.25)) for _ in range(kills)]
    run(tmp_path, kill_after_s=None)

    asked, answered, taken = (lines(tmp_path / name) for name in ("asked", "answered", "taken"))
    keys = {unit_of(f"c{n}").key for n in range(UNITS)}
    assert any(killed)
    assert set(answered) == keys
    assert len(asked) <= UNITS + kills * CONCURRENCY
    verdicts = {tuple(line.rsplit(" ", 2)) for line in taken}
    assert {(key, evaluator) for key, evaluator, _ in verdicts} == {
        (key, evaluator) for key in keys for evaluator in ("scripted", "immediate")
    }
    assert max(Counter((key, evaluator) for key, evaluator, _ in verdicts).values()) == 1


def run(folder: Path, *, kill_after_s: float | None) -> bool:
    """Start the process; kill it so long after it has begun, or let it finish. Returns whether it was killed."""
    command = [sys.executable, "-m", "tests.support.judging_process", str(folder), str(UNITS)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            code = process.wait(timeout=kill_after_s or 60)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    assert code == 0
    return False


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
