from __future__ import annotations

import pytest

from collector.model import GapKind, TurnStatus
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder, refund_conversation, turn_unit
from tests.support.rules import find

REFUND = {"before": "issue_refund", "require": "verify_identity"}
VERIFIED = {**REFUND, "require_result": {"verified": True}}


def test_an_unverified_refund_is_flagged_with_the_offending_call():
    finding = find(REFUND, refund_conversation(verified=None))

    assert finding.status is Status.FAIL
    assert finding.reason == "issue_refund (turn 1, step 0) was called without verify_identity before it."
    assert [(piece.turn, piece.step, piece.quote) for piece in finding.evidence] == [
        (1, 0, 'issue_refund {"order_id": "B-2040", "amount": 24.9}')
    ]


@pytest.mark.parametrize(
    ("rule", "verified", "status"),
    [
        (REFUND, True, Status.PASS),
        (REFUND, False, Status.PASS),
        (REFUND, None, Status.FAIL),
        (VERIFIED, True, Status.PASS),
        (VERIFIED, False, Status.FAIL),
        (VERIFIED, None, Status.FAIL),
        ({"before": "drop_table", "require": "backup"}, True, Status.NOT_APPLICABLE),
        ({"before": "issue_*", "require": "verify_*"}, None, Status.FAIL),
        ({"before": "issue_*", "require": "verify_*"}, True, Status.PASS),
        ({"before": "issue_refund", "require": ["verify_identity", "get_order"]}, None, Status.PASS),
    ],
    ids=[
        "called",
        "result-unread",
        "missing",
        "verified",
        "refused",
        "absent",
        "no-subject",
        "glob",
        "glob-ok",
        "any-of",
    ],
)
def test_order_with_and_without_a_demand_on_the_result(rule, verified, status):
    assert find(rule, refund_conversation(verified=verified)).status is status


def test_a_result_that_does_not_meet_the_demand_is_shown():
    finding = find(VERIFIED, refund_conversation(verified=False))

    assert "the verify_identity before it (turn 1, step 0) does not meet that" in finding.reason
    assert [piece.quote for piece in finding.evidence][1] == '{"verified": false}'


def test_a_required_call_that_failed_does_not_count():
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("verify_identity", {"email": "a"}, result="service down", error=True)
        .call("issue_refund", {"order_id": "B"}, result={})
        .build()
    )

    assert find(REFUND, conversation).status is Status.FAIL


def test_a_failure_that_only_the_text_of_the_result_tells_does_not_count():
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("verify_identity", {"email": "a"}, result="Error: no such customer")
        .call("issue_refund", {"order_id": "B"}, result={})
        .build()
    )

    assert find(REFUND, conversation).status is Status.FAIL


def test_a_missing_result_is_no_evidence_against_the_agent():
    builder = ConversationBuilder().turn("Refund me", gaps=[GapKind.TOOL_RESULT_MISSING])
    conversation = builder.call("verify_identity", {"email": "a"}).call("issue_refund", {"order_id": "B"}).build()

    assert find(REFUND, conversation).status is Status.PASS
    assert find(VERIFIED, conversation).status is Status.NOT_ASSESSABLE


def test_a_call_made_in_parallel_does_not_come_before():
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("verify_identity", {"email": "a"}, call_id="v", group=1)
        .call("issue_refund", {"order_id": "B"}, call_id="r", group=1)
        .result("verify_identity", {"verified": True}, call_id="v")
        .result("issue_refund", {}, call_id="r")
        .build()
    )

    assert find(VERIFIED, conversation).status is Status.FAIL


def test_results_as_json_text_are_read():
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("verify_identity", '{"email": "a"}', result='{"verified": true, "level": "2"}')
        .call("issue_refund", {"order_id": "B"}, result="ok")
        .build()
    )

    assert (
        find({**REFUND, "require_result": {"verified": True, "level": {"gte": 2}}}, conversation).status is Status.PASS
    )


@pytest.mark.parametrize(
    ("customer", "status"),
    [
        ("C-1.5", Status.PASS),
        ("c1.5", Status.PASS),
        ("C-15", Status.FAIL),
        ("C-1,5", Status.FAIL),
        ("C-2", Status.FAIL),
    ],
)
def test_the_same_argument_is_demanded_of_both_calls(customer, status):
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("verify_identity", {"customer": customer}, result={"verified": True})
        .call("issue_refund", {"customer": "C-1.5"}, result={})
        .build()
    )

    assert find({**REFUND, "same": "customer"}, conversation).status is status


@pytest.mark.parametrize(("within", "status"), [("conversation", Status.PASS), ("turn", Status.FAIL)])
def test_before_reaches_over_turns_unless_it_is_told_not_to(within, status):
    conversation = (
        ConversationBuilder()
        .turn("I am Ann")
        .call("verify_identity", {"email": "a"}, result={"verified": True})
        .answer("Hello Ann.")
        .turn("Refund me")
        .call("issue_refund", {"order_id": "B"}, result={})
        .build()
    )

    assert find({**REFUND, "within": within}, conversation).status is status


def test_a_turn_flags_its_own_violations_only():
    conversation = (
        ConversationBuilder()
        .turn("Refund me")
        .call("issue_refund", {"order_id": "A"}, result={})
        .answer("Done.")
        .turn("And my name?")
        .call("verify_identity", {"email": "a"}, result={"verified": True})
        .call("issue_refund", {"order_id": "B"}, result={})
        .answer("Ann.")
        .build()
    )

    assert find(REFUND, turn_unit(conversation, 0)).status is Status.FAIL
    assert find(REFUND, turn_unit(conversation, 1)).status is Status.PASS
    assert find(REFUND, conversation).count == 1


def test_where_limits_the_rule_to_some_calls():
    rule = {**REFUND, "where": {"amount": {"gt": 20}}}

    assert find(rule, refund_conversation(verified=None)).status is Status.FAIL
    assert find({**rule, "where": {"amount": {"gt": 30}}}, refund_conversation(verified=None)).status is not Status.FAIL


def test_arguments_that_nobody_sent_prove_nothing():
    conversation = (
        ConversationBuilder()
        .turn("Refund me", gaps=[GapKind.TOOL_ARGUMENTS_MISSING])
        .result("issue_refund", {}, call_id="x")
        .build()
    )
    rule = {"never": "issue_refund", "where": {"amount": {"gt": 20}}}

    assert find(rule, conversation).status is Status.PASS
    assert find(rule, _without_arguments(conversation)).status is Status.NOT_ASSESSABLE


def test_steps_that_the_telemetry_never_held_prove_nothing():
    conversation = (
        ConversationBuilder()
        .turn("Hello", gaps=[GapKind.HISTORY_UNSEEN])
        .answer("Hello.")
        .turn("Refund me")
        .call("issue_refund", {"order_id": "B"}, result={})
        .build()
    )

    assert find(REFUND, conversation).status is Status.NOT_ASSESSABLE


AFTER = {"after": "edit_file", "require": "run_tests"}


@pytest.mark.parametrize(
    ("tools", "status"),
    [
        (["edit_file", "run_tests"], Status.PASS),
        (["run_tests", "edit_file"], Status.FAIL),
        (["edit_file"], Status.FAIL),
        (["read_file"], Status.NOT_APPLICABLE),
    ],
    ids=["followed", "before-only", "never", "no-subject"],
)
def test_after(tools, status):
    builder = ConversationBuilder().turn("Fix it")
    for tool in tools:
        builder.call(tool, {"path": "a.py"}, result={"ok": True})

    assert find(AFTER, builder.answer("Fixed.").build()).status is status


def test_after_waits_for_the_end_of_the_turn():
    conversation = ConversationBuilder().turn("Fix it", status=TurnStatus.INCOMPLETE).call("edit_file", {}).build()

    assert find(AFTER, conversation).status is Status.NOT_ASSESSABLE


def test_after_within_the_conversation_is_not_judged_on_a_turn():
    conversation = ConversationBuilder().turn("Fix it").call("edit_file", {}, result="ok").answer("Fixed.").build()
    rule = {**AFTER, "within": "conversation"}

    assert find(rule, turn_unit(conversation)).status is Status.NOT_ASSESSABLE
    assert find(rule, conversation).status is Status.FAIL


def _without_arguments(conversation):
    from dataclasses import replace

    from collector.model import ToolCallStep

    turn = conversation.turns[0]
    steps = (ToolCallStep(name="issue_refund", arguments=None, call_id="x"), *turn.steps)
    return replace(conversation, turns=(replace(turn, steps=steps),))
