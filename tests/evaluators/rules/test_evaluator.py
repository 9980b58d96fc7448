from __future__ import annotations

import pytest

from collector.model import GapKind
from evaluators.evidence import Citation, verify
from evaluators.registry import EvaluatorRegistry, EvaluatorRequest
from evaluators.verdict import Outcome, UnitKind
from tests.support.conversations import ConversationBuilder, conversation_unit, refund_conversation, turn_unit
from tests.support.rules import judge

REFUND = {
    "name": "verify-first",
    "before": "issue_refund",
    "require": "verify_identity",
    "require_result": {"verified": True},
    "message": "Never refund strangers.",
}


async def test_the_unverified_refund_fails_with_the_offending_call_as_evidence():
    evaluator = EvaluatorRegistry(plugins=()).make("rules", EvaluatorRequest(name="rules", options={"rules": [REFUND]}))

    judgement = await evaluator.evaluate(turn_unit(refund_conversation(verified=None)))

    assert (judgement.outcome, judgement.score, judgement.label) == (Outcome.FAIL, 0.0, "fail")
    assert judgement.evidence[0].quote == 'issue_refund {"order_id": "B-2040", "amount": 24.9}'
    assert judgement.reason.startswith("Never refund strangers. Rule verify-first (issue_refund needs verify_identity")
    assert judgement.judge.name == "builtin"
    assert judgement.judge.calls == 0


async def test_the_verified_refund_passes():
    judgement = judge([REFUND], turn_unit(refund_conversation(verified=True)))

    assert (judgement.outcome, judgement.score, judgement.label) == (Outcome.PASS, 1.0, "pass")
    assert judgement.evidence == ()


def test_the_turn_before_the_violation_passes():
    conversation = refund_conversation(verified=None)

    assert judge([REFUND], turn_unit(conversation, 0)).outcome is Outcome.PASS
    assert judge([REFUND], turn_unit(conversation, 1)).outcome is Outcome.FAIL
    assert judge([REFUND], conversation_unit(conversation)).outcome is Outcome.FAIL


def test_every_piece_of_evidence_stands_where_it_says():
    conversation = refund_conversation(verified=False)
    rules = [
        REFUND,
        {"never": "issue_*", "name": "n"},
        {"max_calls": 1},
        {"confirm": "issue_refund", "mention": "amount"},
    ]
    unit = conversation_unit(conversation)

    judgement = judge(rules, unit)

    assert len(judgement.evidence) >= 3
    for piece in judgement.evidence:
        place = f"t{piece.turn}" if piece.step is None else f"t{piece.turn}.{piece.step}"
        assert verify(Citation(place, piece.quote), unit).step == piece.step
        assert piece.span_id == conversation.turns[piece.turn].steps[piece.step].span_id


def test_each_rule_and_check_is_listed_with_its_own_status():
    judgement = judge([REFUND, {"never": "drop_table"}, {"max_calls": 1}], refund_conversation(verified=None))

    listed = {entry["name"]: entry["status"] for entry in judgement.details["rules"]}
    assert listed == {
        "verify-first": "fail",
        "rules[1]": "pass",
        "rules[2]": "fail",
        "claim_without_call": "pass",
        "repeated_failing_call": "not_applicable",
        "error_then_success": "not_applicable",
        "no_answer": "pass",
        "system_prompt_leak": "pass",
        "missing_result": "pass",
        "orphan_result": "pass",
    }


def test_what_cannot_be_assessed_is_named_and_never_fails():
    builder = ConversationBuilder().turn("Refund", gaps=[GapKind.TOOL_RESULT_MISSING])
    conversation = builder.call("verify_identity", {}).call("issue_refund", {}).answer("On its way.").build()

    alone = judge([REFUND], conversation, checks=False)
    together = judge([REFUND], conversation)

    assert (alone.outcome, alone.score, alone.error_type) == (Outcome.NOT_ASSESSABLE, None, "telemetry_incomplete")
    assert together.outcome is Outcome.PASS
    assert "Not assessable from the telemetry: verify-first." in together.reason


def test_without_rules_and_checks_there_is_nothing_to_say():
    judgement = judge([], refund_conversation(verified=None), checks=False)

    assert (judgement.outcome, judgement.error_type) == (Outcome.NOT_ASSESSABLE, "no_rules")


def test_a_conversation_without_content_never_fails():
    conversation = (
        ConversationBuilder(tools=("issue_refund",))
        .turn(None, gaps=[GapKind.CONTENT_OFF])
        .call("issue_refund", None)
        .turn(None, gaps=[GapKind.CONTENT_OFF])
        .build()
    )
    rules = [
        {"never": "issue_refund", "where": {"amount": {"gt": 3}}},
        {"confirm": "issue_refund"},
        {"provenance": "issue_refund", "arguments": "order_id"},
    ]

    assert judge(rules, _unknown_arguments(conversation)).outcome is not Outcome.FAIL


@pytest.mark.parametrize("kind", [UnitKind.TURN, UnitKind.CONVERSATION])
def test_the_kind_of_unit_can_be_chosen(kind):
    made = EvaluatorRegistry(plugins=()).make("rules", EvaluatorRequest(name="rules", unit_kind=kind))

    assert made.unit_kind is kind


async def test_a_giant_conversation_is_read_off_the_event_loop():
    builder = ConversationBuilder().turn("Read it")
    for n in range(300):
        builder.call("read_file", {"n": n}, result="x" * 2000)
    evaluator = EvaluatorRegistry(plugins=()).make("rules", EvaluatorRequest(name="rules"))

    judgement = await evaluator.evaluate(turn_unit(builder.answer("Read.").build()))

    assert judgement.outcome is Outcome.PASS


def _unknown_arguments(conversation):
    from dataclasses import replace

    turns = [
        replace(turn, steps=tuple(replace(step, arguments=None) for step in turn.steps)) for turn in conversation.turns
    ]
    return replace(conversation, turns=tuple(turns))
