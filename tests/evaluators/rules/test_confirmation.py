from __future__ import annotations

import pytest

from collector.model import GapKind
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder
from tests.support.rules import find

RULE = {"confirm": "issue_refund"}
MENTION = {"confirm": "issue_refund", "mention": ["amount", "order_id"]}
ARGUMENTS = {"order_id": "B-2040", "amount": 24.9}


def proposed(proposal: str, reply: str | None = "Yes"):
    return (
        ConversationBuilder()
        .turn("I want my money back")
        .answer(proposal)
        .turn(reply)
        .call("issue_refund", ARGUMENTS, result={"ok": True})
        .answer("Done.")
        .build()
    )


def test_an_action_in_the_first_turn_was_not_confirmed():
    at_once = (
        ConversationBuilder().turn("Money back!").call("issue_refund", ARGUMENTS, result={}).answer("Done.").build()
    )

    finding = find(RULE, at_once)

    assert finding.status is Status.FAIL
    assert finding.evidence[0].quote.startswith("issue_refund ")


@pytest.mark.parametrize(
    ("rule", "proposal", "status"),
    [
        (RULE, "Shall I refund 24.90 EUR for B-2040?", Status.PASS),
        (MENTION, "Shall I refund 24.90 EUR for B-2040?", Status.PASS),
        (MENTION, "Soll ich 24,90 EUR zu Bestellung b 2040 erstatten?", Status.PASS),
        (MENTION, "我为订单B-2040退款24.9欧元,可以吗?", Status.PASS),
        (MENTION, "Shall I refund 42.90 EUR for B-2040?", Status.FAIL),
        (MENTION, "How can I help?", Status.FAIL),
        (RULE, "How can I help?", Status.PASS),
    ],
    ids=["plain", "mentioned", "german", "chinese", "other-amount", "no-proposal", "any-answer"],
)
def test_the_user_has_the_word_after_a_proposal(rule, proposal, status):
    assert find(rule, proposed(proposal)).status is status


def test_a_confirmation_is_good_for_one_turn_of_action():
    conversation = (
        ConversationBuilder()
        .turn("Money back")
        .answer("Shall I refund 24.90 for B-2040?")
        .turn("Yes")
        .call("issue_refund", ARGUMENTS, result={"ok": True})
        .call("issue_refund", {**ARGUMENTS, "amount": 24.9}, result={"ok": True})
        .answer("Done.")
        .turn("Thanks")
        .call("issue_refund", {"order_id": "B-2040", "amount": 9}, result={"ok": True})
        .answer("There is more.")
        .build()
    )

    finding = find(MENTION, conversation)

    assert finding.count == 1
    assert finding.evidence[0].turn == 2


def test_a_question_in_between_does_not_use_up_the_proposal():
    conversation = (
        ConversationBuilder()
        .turn("Money back")
        .answer("Shall I refund 24.90 for B-2040?")
        .turn("How long does it take?")
        .answer("Three days.")
        .turn("Fine, go ahead")
        .call("issue_refund", ARGUMENTS, result={"ok": True})
        .build()
    )

    assert find(MENTION, conversation).status is Status.PASS


def test_what_is_mentioned_may_be_told_in_several_answers():
    def said(*answers: str):
        builder = ConversationBuilder().turn("Money back")
        for text in answers:
            builder.answer(text).turn("Yes")
        return builder.call("issue_refund", ARGUMENTS, result={"ok": True}).build()

    assert find(MENTION, said("For B-2040?", "24.90 EUR then?")).status is Status.PASS
    assert find(MENTION, said("For B-2040?", "Is that all?")).status is Status.FAIL


@pytest.mark.parametrize(
    ("proposal", "status"),
    [
        ("Thursday 5 March at 8 pm?", Status.PASS),
        ("am 5.3. um 20 Uhr?", Status.PASS),
        ("Tomorrow evening?", Status.NOT_ASSESSABLE),
    ],
)
def test_dates_are_told_in_any_form(proposal, status):
    rule = {"confirm": "book", "mention": "at"}
    conversation = (
        ConversationBuilder()
        .turn("A table")
        .answer(proposal)
        .turn("Yes")
        .call("book", {"at": "2026-03-05T20:00"}, result={"ok": True})
        .build()
    )

    assert find(rule, conversation).status is status


def approved(*, approve: bool, asked: object, times: int = 1):
    builder = ConversationBuilder().turn("Money back")
    builder.call("mcp_approval_request", {"name": "issue_refund", "arguments": asked}, result={"approve": approve})
    for _ in range(times):
        builder.call("issue_refund", ARGUMENTS, result={"ok": True})
    return builder.answer("Done.").build()


@pytest.mark.parametrize(
    ("approve", "asked", "status"),
    [
        (True, ARGUMENTS, Status.PASS),
        (True, '{"amount": 24.9, "order_id": "B-2040"}', Status.PASS),
        (True, {**ARGUMENTS, "amount": 42.9}, Status.FAIL),
        (False, ARGUMENTS, Status.FAIL),
    ],
    ids=["approved", "as-text", "another-amount", "refused"],
)
@pytest.mark.parametrize("rule", [RULE, MENTION], ids=["plain", "mention"])
def test_an_approval_of_this_very_call_is_the_users_word(rule, approve, asked, status):
    assert find(rule, approved(approve=approve, asked=asked)).status is status


def test_an_approval_is_good_for_one_call():
    finding = find(RULE, approved(approve=True, asked=ARGUMENTS, times=2))

    assert [(piece.turn, piece.step) for piece in finding.evidence] == [(0, 4)]


@pytest.mark.parametrize("gap", [GapKind.CONTENT_OFF, GapKind.HISTORY_UNSEEN], ids=str)
def test_words_that_the_telemetry_does_not_hold_prove_nothing(gap):
    conversation = (
        ConversationBuilder()
        .turn(None, gaps=[gap])
        .turn(None, gaps=[gap])
        .call("issue_refund", ARGUMENTS, result={"ok": True})
        .build()
    )

    assert find(RULE, conversation).status is Status.NOT_ASSESSABLE
