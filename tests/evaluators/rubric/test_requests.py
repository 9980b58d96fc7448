"""The requests as they are sent. `ADHERE_UPDATE_GOLDEN=1 uv run pytest tests/evaluators/rubric/test_requests.py` renews
the golden files; their diff is reviewed like code, since it changes what every judge is asked.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import UnitKind
from tests.bench.growing_conversation_bench import growing_conversation
from tests.support.conversations import conversation_unit, refund_conversation, turn_unit
from tests.support.golden import assert_golden
from tests.support.honest_judge import honest
from tests.support.judges import scripted_judge
from tests.support.rubrics import rubric_judge
from tests.support.states import StatesInMemory

REFUND = refund_conversation(verified=True)
RUBRIC = {
    "about": "How refunds are handled.",
    "criteria": [
        "The agent never promises a date.",
        {
            "name": "apology",
            "ask": "The agent apologises once.\nNot more often.",
            "applies": "The user complains.",
            "examples": [{"text": "Torn covers happen.", "answer": "no", "why": "It makes light of it."}],
        },
    ],
}


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("rubric_turn", "rubric", {**RUBRIC, "on": "turn"}),
        ("rubric_conversation", "rubric", {**RUBRIC, "include_reason": False}),
        ("rubric_each_turn", "topic_adherence", {"topics": ["orders", "refunds"]}),
    ],
)
async def test_requests_are_as_recorded(name, kind, options):
    async with scripted_judge(rubric_judge()) as (judge, server):
        found = make_setup(kind, options, registry=EvaluatorRegistry(plugins=()), judge=judge).evaluator
        await found.evaluate(turn_unit(REFUND) if found.unit_kind is UnitKind.TURN else conversation_unit(REFUND))

    (call,) = server.calls
    schema = json.dumps(call.body["response_format"], indent=1)
    assert_golden(f"judge/{name}.txt", f"{schema}\n{call.messages[2]['content']}\n")


async def test_a_request_about_a_new_turn_is_as_recorded():
    whole = growing_conversation(6)
    async with scripted_judge(honest) as (judge, server):
        found = make_setup(
            "rubric", RUBRIC, registry=EvaluatorRegistry(plugins=()), judge=judge, states=StatesInMemory()
        ).evaluator
        for count in range(1, 7):
            await found.evaluate(conversation_unit(replace(whole, turns=whole.turns[:count])))

    schema = json.dumps(server.calls[-1].body["response_format"], indent=1)
    assert_golden("judge/rubric_step.txt", f"{schema}\n{server.calls[-1].messages[2]['content']}\n")
