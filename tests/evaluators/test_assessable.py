from dataclasses import replace

import pytest

from collector.model import GapKind, TurnStatus
from evaluators.assessable import why_not_assessable
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Outcome
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit
from tests.support.honest_judge import honest
from tests.support.judges import scripted_judge

OFF = (GapKind.CONTENT_OFF,)


def builder():
    return ConversationBuilder()


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        pytest.param(turn_unit(builder().turn("Hi").answer("Hello").build()), None, id="words on both sides"),
        pytest.param(turn_unit(builder().turn("Go").call("act").build()), None, id="a call in answer"),
        pytest.param(turn_unit(builder().turn(None).answer("Hello").build()), None, id="answer only"),
        pytest.param(turn_unit(builder().turn(None, gaps=OFF).call("act").build()), "content_off", id="content off"),
        pytest.param(
            conversation_unit(builder().turn(None, gaps=OFF).turn(None, gaps=OFF).build()),
            "content_off",
            id="content off throughout",
        ),
        pytest.param(
            conversation_unit(builder().turn(None, gaps=OFF).turn("Hi").answer("Hello").build()),
            None,
            id="content off in one of two turns",
        ),
        pytest.param(
            turn_unit(builder().turn("Hi").answer("Hello").turn(None, gaps=OFF).build()),
            "content_off",
            id="content off in the judged turn",
        ),
        pytest.param(turn_unit(builder().turn(None).call("act").build()), "no_content", id="structure only"),
        pytest.param(turn_unit(builder().turn("Hi").build()), "no_agent_content", id="no answer"),
        pytest.param(turn_unit(builder().turn("Hi").answer(" \n").build()), "no_agent_content", id="blank answer"),
        pytest.param(
            turn_unit(builder().turn("Hi", status=TurnStatus.INCOMPLETE).call("act").build()),
            "incomplete",
            id="waiting for a result",
        ),
        pytest.param(
            replace(conversation_unit(builder().turn("Hi").build()), conversation=builder().build()),
            "no_turns",
            id="no turn",
        ),
    ],
)
def test_what_cannot_be_judged_is_named(unit, expected):
    found = why_not_assessable(unit)

    assert (found[0] if found else None) == expected


async def test_what_cannot_be_judged_costs_no_call():
    async with scripted_judge(honest) as (judge, server):
        judgement = await TaskAdherence(judge=judge).evaluate(turn_unit(builder().turn(None, gaps=OFF).build()))

    assert (judgement.outcome, judgement.score) == (Outcome.NOT_ASSESSABLE, None)
    assert (judgement.error_type, judgement.judge.calls) == ("content_off", 0)
    assert server.calls == []
