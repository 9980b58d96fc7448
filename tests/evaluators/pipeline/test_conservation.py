"""Everything offered to an evaluator ends in exactly one counter."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.verdict import Outcome
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing, raising, refusing
from tests.support.judging import judging, setup
from tests.support.until import advance_until


def moody(random: Random):
    """Passes, refuses, raises, errs, or cannot tell, as it comes."""

    def script(unit, asked_before):
        roll = random.random()
        if roll < 0.15:
            return refusing(unit, asked_before)
        if roll < 0.3:
            return raising(unit, asked_before)
        if roll < 0.4:
            return Judgement(outcome=Outcome.ERROR, error_type="malformed")
        if roll < 0.5:
            return Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type="content_off")
        return passing(unit, asked_before)

    return script


@pytest.mark.parametrize("seed", range(3))
async def test_submitted_is_decided_plus_unchanged_plus_waiting(tmp_path, seed):
    random = Random(seed)
    setups = (
        setup(ScriptedEvaluator(moody(random), name="waiting")),
        setup(ScriptedEvaluator(moody(random), name="immediate"), immediate=True),
        setup(ScriptedEvaluator(moody(random), name="sampled"), sample=0.5),
    )
    units = [
        turn_unit(refund_conversation(verified=True, conversation_id=f"c{random.randrange(12)}")) for _ in range(50)
    ]

    async with judging(tmp_path, *setups, limits=PipelineLimits(queue_items=8)) as found:
        for number, unit in enumerate(units):
            await found.pipeline.submit(with_answer(unit, f"answer {number % 5}", revision=number))
        await found.pipeline.drain()
        await found.clock.advance(0.5)
        waiting = await found.store.run(
            lambda connection: dict(
                connection.execute("SELECT evaluator, count(*) FROM waiting WHERE dead = 0 GROUP BY evaluator")
            )
        )

        for name in ("waiting", "immediate", "sampled"):
            submitted = found.metric("adhere_judging_submitted_total", evaluator=name)
            decided = found.metric("adhere_judging_decisions_total", evaluator=name)
            unchanged = found.metric("adhere_judging_unchanged_total", evaluator=name)
            assert submitted == 50
            assert submitted == decided + unchanged + waiting.get(name, 0)


async def test_each_unit_has_exactly_one_current_decision_for_each_evaluator(tmp_path):
    random = Random(5)
    evaluator = ScriptedEvaluator(moody(random), name="waiting")

    async with judging(tmp_path, setup(evaluator), setup(ScriptedEvaluator(name="other"), immediate=True)) as found:
        for number in range(30):
            unit = turn_unit(refund_conversation(verified=True, conversation_id=f"c{number % 6}"))
            await found.pipeline.submit(with_answer(unit, f"answer {number}", revision=number))
        evaluator.script = passing
        await advance_until(found.clock, lambda: found.metric("adhere_judging_decisions_total") == 60, step_s=20)
        await found.pipeline.drain()
        rows = await found.store.run(
            lambda connection: connection.execute(
                "SELECT unit_key, evaluator, sum(current) FROM decisions GROUP BY unit_key, evaluator"
            ).fetchall()
        )

    assert len(rows) == 12
    assert {current for *_, current in rows} == {1}


def with_answer(unit, output, *, revision):
    turns = unit.conversation.turns
    turns = (*turns[:-1], replace(turns[-1], output=output))
    return replace(unit, conversation=replace(unit.conversation, turns=turns), revision=revision)
