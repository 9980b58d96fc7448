from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from evaluators.evaluator import Judgement
from evaluators.store.scores import UnitScores, scores_of
from evaluators.verdict import Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import judging, setup
from tests.support.until import until

UNIT = turn_unit(refund_conversation(verified=True))


async def told(found, *names):
    return await found.store.run(partial(scores_of, unit_key=UNIT.key, evaluators=names))


def refusing(error_type):
    """An evaluator whose judge puts everything off."""

    def script(unit, asked_before):
        return Judgement(outcome=Outcome.ERROR, error_type=error_type, retryable=True)

    return ScriptedEvaluator(script, name="asked")


async def test_it_is_final_once_the_last_evaluator_has_decided(tmp_path):
    slow = ScriptedEvaluator(name="slow", hold=True)

    async with judging(tmp_path, setup(ScriptedEvaluator(name="quick"), immediate=True), setup(slow)) as found:
        before = await told(found, "quick", "slow")
        await found.pipeline.submit(UNIT)
        await until(lambda: len(slow.asked) == 1)
        await until(lambda: found.metric("adhere_judging_verdicts_total", evaluator="quick") == 1)
        between = await told(found, "quick", "slow")
        slow.release()
        await found.pipeline.drain()
        after = await told(found, "quick", "slow")

    assert (before.verdicts, before.is_final) == ((), False)
    assert ([one.evaluator for one in between.verdicts], between.is_final) == (["quick"], False)
    assert ([one.evaluator for one in after.verdicts], after.is_final) == (["quick", "slow"], True)


@pytest.mark.parametrize(
    "changes", [{"sample": 0.0}, {"services": ("bank",)}, {"agents": ("nobody",)}], ids=["sample", "service", "agent"]
)
async def test_a_unit_that_nobody_judges_is_final_at_once(tmp_path, changes):
    async with judging(tmp_path, setup(ScriptedEvaluator(name="one"), **changes)) as found:
        await found.pipeline.submit(UNIT)
        await found.pipeline.drain()

        assert await told(found, "one") == UnitScores((), is_final=True)


@pytest.mark.parametrize(
    ("error_type", "kind", "is_final"),
    [("judge_unavailable", "judge_down", False), ("budget_exhausted", "deferred_budget", True)],
    ids=["a judge that is down may come back", "money that is spent does not"],
)
async def test_what_was_put_off(tmp_path, error_type, kind, is_final):
    async with judging(tmp_path, setup(refusing(error_type))) as found:
        await found.pipeline.submit(UNIT)
        await until(lambda: found.metric("adhere_judging_deferrals_total", kind=kind) >= 1)

        assert await told(found, "asked") == UnitScores((), is_final=is_final)


async def test_a_turn_that_was_withdrawn_comes_again_as_another_unit(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator(name="one"), immediate=True)) as found:
        await found.pipeline.submit(UNIT)
        await found.pipeline.drain()
        await found.pipeline.withdraw(UNIT.key)

        assert await told(found, "one") == UnitScores((), is_final=False)


async def test_a_later_revision_is_waited_for(tmp_path):
    slow = ScriptedEvaluator(name="slow")
    later = replace(UNIT, revision=1, conversation=replace(UNIT.conversation, system_instructions="New."))

    async with judging(tmp_path, setup(slow)) as found:
        await found.pipeline.submit(UNIT)
        await found.pipeline.drain()
        slow.hold()
        await found.pipeline.submit(later)
        await until(lambda: len(slow.asked) == 2)

        assert await told(found, "slow") == UnitScores((), is_final=False)
