from __future__ import annotations

import pytest

from evaluators.pipeline.selection import in_sample, skip
from evaluators.verdict import DecisionKind
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.judging import setup

KEYS = [f"shop/conversation-{n}" for n in range(4000)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.9, 1.0])
def test_a_sample_holds_its_share_of_conversations(share):
    drawn = sum(in_sample(key, share) for key in KEYS) / len(KEYS)

    assert abs(drawn - share) < 0.03


def test_a_conversation_in_a_sample_is_in_every_larger_one():
    for key in KEYS[:500]:
        answers = [in_sample(key, share) for share in (0.1, 0.3, 0.6, 1.0)]
        assert answers == sorted(answers)


def test_all_turns_of_a_conversation_share_its_fate():
    half = setup(ScriptedEvaluator(), sample=0.5)
    for n in range(50):
        conversation = refund_conversation(verified=True, conversation_id=f"c{n}")
        fates = {skip(half, turn_unit(conversation, index)) is None for index in range(2)}
        assert len(fates) == 1


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, None),
        ({"agents": ("rob*",), "services": ("shop",)}, None),
        ({"agents": ("Robin",)}, DecisionKind.FILTERED),
        ({"services": ("shop-*", "bank")}, DecisionKind.FILTERED),
        ({"agents": ("nobody",), "sample": 0}, DecisionKind.FILTERED),
    ],
)
def test_filters_by_agent_and_service(changes, kind):
    found = skip(setup(ScriptedEvaluator(), **changes), turn_unit(refund_conversation(verified=True)))

    assert (None if found is None else found.kind) is kind
