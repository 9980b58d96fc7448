"""Units whose judging was given up are asked again on request, and only then."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.store.dead import call_back, dead_judgings
from evaluators.store.opening import open_read_only
from evaluators.store.waiting import totals
from evaluators.verdict import DecisionKind, Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing, raising, refusing
from tests.support.judging import Judging, judging, setup
from tests.support.until import advance_until

LIMITS = PipelineLimits()


def failing(unit, asked_before):
    return Judgement(outcome=Outcome.ERROR, error_type="over_budget", reason="One call is above the budget.")


def unit_of(conversation_id, *, output=None, revision=0):
    unit = turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))
    turns = unit.conversation.turns
    turns = (*turns[:-1], replace(turns[-1], output=output or turns[-1].output))
    return replace(unit, conversation=replace(unit.conversation, turns=turns), revision=revision)


def store(folder: Path) -> Path:
    return folder / "verdicts.sqlite"


async def given_up(found: Judging, *ids: str) -> None:
    for conversation_id in ids:
        await found.pipeline.submit(unit_of(conversation_id))
    await found.pipeline.drain()


async def asked_again(found: Judging, asked: ScriptedEvaluator, times: int) -> None:
    await advance_until(found.clock, lambda: len(asked.asked) == times, step_s=LIMITS.upkeep_interval_s)
    await found.pipeline.drain()


def nothing_is_open(folder: Path) -> bool:
    with closing(open_read_only(store(folder))) as connection:
        found = totals(connection)
    return found.jobs == found.dead == 0


def current(record):
    return [entry for entry in record.decisions if entry.current]


@pytest.mark.parametrize("immediate", [False, True], ids=["waiting", "immediate"])
async def test_a_running_pipeline_asks_again_and_the_verdict_supersedes_the_error(tmp_path, immediate):
    evaluator = ScriptedEvaluator(failing)

    async with judging(tmp_path, setup(evaluator, immediate=immediate)) as found:
        await given_up(found, "c1", "c2")
        evaluator.script = passing
        counts = await asyncio.to_thread(call_back, store(tmp_path), ["scripted"], conversation_id="c1")
        await asked_again(found, evaluator, 3)
        record = await found.explain("c1")
        (left,) = dead_judgings(store(tmp_path), limit=10)

    failed, _, passed = found.sink.verdicts
    assert counts == {"scripted": 1}
    assert (failed.outcome, passed.outcome, passed.score) == (Outcome.ERROR, Outcome.PASS, 1.0)
    assert (passed.supersedes, passed.revision) == (failed.id, failed.revision + 1)
    assert [entry.decision.kind for entry in current(record)] == [DecisionKind.JUDGED]
    assert record.dead == record.waiting == ()
    assert (left.conversation_id, left.reason) == ("c2", "over_budget: One call is above the budget.")
    assert found.metric("adhere_judging_called_back_total", evaluator="scripted") == 1
    assert found.metric("adhere_judging_decisions_total", kind="judged") == 1
    assert found.metric("adhere_judging_decisions_total", kind="failed") == 2


async def test_a_stopped_one_asks_again_after_its_start(tmp_path):
    evaluator = ScriptedEvaluator(failing)
    async with judging(tmp_path, setup(evaluator)) as found:
        await given_up(found, "c1")
    evaluator.script = passing

    call_back(store(tmp_path), ["scripted"])
    (called,) = dead_judgings(store(tmp_path), limit=10)
    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.drain()

    assert called.is_called_back
    assert [verdict.outcome for verdict in found.sink.verdicts] == [Outcome.PASS]
    assert found.metric("adhere_judging_recovered_total") == 1
    assert dead_judgings(store(tmp_path), limit=10) == []


async def test_what_fails_again_is_dead_again_under_another_verdict(tmp_path):
    evaluator = ScriptedEvaluator(failing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await given_up(found, "c1")
        for times in (2, 3):
            call_back(store(tmp_path), ["scripted"])
            await asked_again(found, evaluator, times)
        await found.pipeline.submit(unit_of("c1"))  # A replay.
        await found.pipeline.drain()
        (left,) = dead_judgings(store(tmp_path), limit=10)

    first, second, third = found.sink.verdicts
    assert len(evaluator.asked) == 3
    assert (first.supersedes, second.supersedes, third.supersedes) == (None, first.id, second.id)
    assert not left.is_called_back


async def test_it_has_all_its_tries_and_all_its_time_again(tmp_path):
    evaluator = ScriptedEvaluator(refusing)
    limits = replace(LIMITS, max_own_refusals=1, max_refusals=1)

    async with judging(tmp_path, setup(evaluator), limits=limits) as found:
        await found.pipeline.submit(unit_of("c1"))
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 1, step_s=30)
        evaluator.script = lambda unit, before: refusing(unit, before) if before < 3 else passing(unit, before)
        call_back(store(tmp_path), ["scripted"])
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 2, step_s=30)

    failed, passed = found.sink.verdicts
    assert (failed.error_type, passed.error_type) == ("connection", None)
    assert (passed.supersedes, passed.revision) == (failed.id, failed.revision + 1), "it was put off in between"
    assert len(evaluator.asked) == 4


async def test_a_later_revision_takes_the_place_of_one_that_was_called_back(tmp_path):
    evaluator = ScriptedEvaluator(failing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await given_up(found, "c1")
        evaluator.script = passing
        call_back(store(tmp_path), ["scripted"])
        await found.pipeline.submit(unit_of("c1", output="Another answer.", revision=1))
        await asked_again(found, evaluator, 2)
        await found.clock.advance(LIMITS.upkeep_interval_s)
        await found.pipeline.drain()

    assert len(evaluator.asked) == 2
    assert found.metric("adhere_judging_called_back_total") == 0
    assert found.metric("adhere_judging_decisions_total") == found.metric("adhere_judging_submitted_total") == 2


async def test_content_that_comes_back_has_the_verdict_of_its_last_try(tmp_path):
    evaluator = ScriptedEvaluator(failing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await given_up(found, "c1")
        evaluator.script = passing
        call_back(store(tmp_path), ["scripted"])
        await asked_again(found, evaluator, 2)
        await found.pipeline.submit(unit_of("c1", output="Another answer.", revision=5))
        await found.pipeline.drain()
        await found.pipeline.submit(unit_of("c1", revision=6))
        await found.pipeline.drain()
        (entry,) = current(await found.explain("c1"))

    assert len(evaluator.asked) == 3
    assert (entry.verdict.outcome, entry.verdict.id) == (Outcome.PASS, found.sink.verdicts[1].id)


async def test_one_of_an_evaluator_that_is_not_configured_stays_failed(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator(failing)), setup(ScriptedEvaluator(name="other"))) as found:
        await given_up(found, "c1")
    call_back(store(tmp_path), ["scripted"])

    async with judging(tmp_path, setup(ScriptedEvaluator(name="other"))) as found:
        await found.pipeline.drain()
        record = await found.explain("c1")

    assert DecisionKind.FAILED in [entry.decision.kind for entry in current(record)]
    assert found.metric("adhere_judging_decisions_total") == 0


@pytest.mark.parametrize("seed", range(2))
async def test_nothing_is_lost_or_counted_twice_while_others_call_back(tmp_path, seed):
    random = Random(seed)

    def moody(unit, asked_before):
        return random.choice([failing, passing, refusing, raising])(unit, asked_before)

    evaluator = ScriptedEvaluator(moody)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, max_own_refusals=2)) as found:
        for number in range(40):
            unit = unit_of(f"c{number % 8}", output=f"answer {number % 5}", revision=number)
            await asyncio.gather(
                found.pipeline.submit(unit), asyncio.to_thread(call_back, store(tmp_path), ["scripted"])
            )
            await found.clock.advance(LIMITS.upkeep_interval_s)
        await found.pipeline.drain()
        call_back(store(tmp_path), ["scripted"])
        evaluator.script = passing
        await advance_until(found.clock, lambda: nothing_is_open(tmp_path), step_s=60)
        await found.pipeline.drain()
        kinds = [
            entry.decision.kind for n in range(8) for entry in (await found.explain(f"c{n}")).decisions if entry.current
        ]

    coming = [found.metric(f"adhere_judging_{name}_total") for name in ("submitted", "called_back")]
    ending = [found.metric(f"adhere_judging_{name}_total") for name in ("decisions", "unchanged")]
    assert sum(coming) == sum(ending)
    assert coming[1] > 0
    assert kinds == [DecisionKind.JUDGED] * 8
    assert len({verdict.id for verdict in found.sink.verdicts}) == len(found.sink.verdicts)
