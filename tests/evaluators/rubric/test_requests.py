"""The requests as they are sent. `ADHERE_UPDATE_GOLDEN=1 uv run pytest tests/evaluators/rubric/test_requests.py` renews
the golden files; their diff is reviewed like code, since it changes what every judge is asked.
"""

from __future__ import annotations

import json

import pytest

from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import UnitKind
from tests.support.conversations import conversation_unit, refund_conversation, turn_unit
from tests.support.golden import assert_golden
from tests.support.judges import scripted_judge
from tests.support.rubrics import rubric_judge

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
