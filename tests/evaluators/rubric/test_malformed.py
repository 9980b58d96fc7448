"""Broken answers about rubrics and for the compiler: never a score, never an exception."""

from __future__ import annotations

from random import Random

import pytest

from evaluators.agent_rubric.evaluator import AgentRubric
from evaluators.agent_rubric.shelf import MemoryShelf
from evaluators.rubric.evaluator import RubricEvaluator
from evaluators.verdict import Outcome, UnitKind
from tests.support.agent_rubrics import LIMIT, VERIFY, compiled, robin
from tests.support.clock import ManualClock
from tests.support.conversations import conversation_unit, turn_unit
from tests.support.judge_reply import always, answer
from tests.support.judges import scripted_judge
from tests.support.malformed_answers import malformed_answers
from tests.support.rubrics import entry, reply, rubric

TWO = rubric({"name": "kind", "ask": "The agent is kind."}, {"name": "brief", "ask": "The agent is brief."})
BY_TURN = rubric({"name": "kind", "ask": "The agent is kind."}, each_turn=True, combine="mean")
NO = {"at": "t0.answer", "quote": "I have refunded 24.90 EUR, gladly."}
COUNT = 50


def broken(good: str | None, seed: int) -> list[str]:
    return list(malformed_answers(good or "", count=COUNT, random=Random(seed)))


@pytest.mark.parametrize(
    ("found", "good", "kind"),
    [
        (TWO, reply(entry("kind"), entry("brief", "no", NO)), UnitKind.TURN),
        (BY_TURN, reply(entry("kind", "no", NO, turn=0)), UnitKind.CONVERSATION),
    ],
    ids=["criteria", "each-turn"],
)
async def test_a_broken_answer_is_no_score(found, good, kind):
    unit = turn_unit(robin()) if kind is UnitKind.TURN else conversation_unit(robin())
    texts = iter(text for text in broken(good.content, 3) for _ in range(2))

    async with scripted_judge(lambda call: answer(next(texts))) as (judge, _):
        evaluator = RubricEvaluator(found, judge=judge, name="x", unit_kind=kind)
        judgements = [await evaluator.evaluate(unit) for _ in range(COUNT)]

    assert {judgement.score for judgement in judgements} == {None}
    assert {judgement.outcome for judgement in judgements} == {Outcome.ERROR}


async def test_a_broken_compilation_is_no_rubric():
    for text in broken(compiled(VERIFY, LIMIT).content, 5):
        async with scripted_judge(always(answer(text))) as (judge, _):
            judgement = await AgentRubric(judge=judge, shelf=MemoryShelf(), clock=ManualClock()).evaluate(
                conversation_unit(robin())
            )

        assert (judgement.outcome, judgement.score) == (Outcome.ERROR, None)
