# ruff: noqa: RUF001 - punctuation of other scripts is a part of what is tested

from __future__ import annotations

import pytest

from collector.model import GapKind
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import check

TOOLS = ("get_order", "issue_refund", "cancel_booking", "send_email", "create_booking")


def said(output, *, tools=TOOLS, calls=(), gaps=(), result=None):
    builder = ConversationBuilder(tools=tools).turn("Please", gaps=gaps)
    for name in calls:
        builder.call(name, {"id": 1}, result=result or {"ok": True})
    return builder.answer(output).build()


def status(conversation):
    return check("claim_without_call", conversation).status


@pytest.mark.parametrize(
    "output",
    [
        "I have refunded 24.90 EUR to your card.".replace("24.90 EUR", "your order"),
        "I've cancelled your booking. Anything else?",
        "All good. I just sent you an email with the details.",
        "I have now successfully cancelled the booking.",
        "Ich habe Ihre Buchung soeben storniert.",
        "Soeben habe ich Ihnen die Bestätigung geschickt.",
        "Le he reembolsado el importe.",
        "J'ai annulé votre réservation.",
        "Ho cancellato la prenotazione.",
        "Já cancelei a sua reserva.",
        "我已经为您退款，三天内到账。",
        "已为您取消预订。",
        "ご予約をキャンセルいたしました。",
        "예약을 취소해 드렸습니다.",
    ],
)
def test_an_action_that_no_call_took_is_flagged(output):
    finding = check("claim_without_call", said(output, calls=["get_order"]))

    assert finding.status is Status.FAIL
    assert finding.evidence[0].quote in output


@pytest.mark.parametrize(
    "output",
    [
        "I can refund your order.",
        "I will have refunded your order by tomorrow.",
        "Have I refunded your order?",
        "Once I have refunded the order, you get an e-mail.",
        "If I have cancelled your booking by mistake, tell me.",
        "I have not refunded the order.",
        "I haven't cancelled your booking.",
        "Your order was refunded on 3 May.",
        "The booking has been cancelled by the hotel.",
        'You said: "I have cancelled your booking already".',
        "Draft:\nSubject: Your order\nI have refunded your order.",
        "> I have refunded your order.",
        "`I have refunded the order`",
        "I have updated pricing for you here: 3 EUR.",
        "Ich habe die Buchung nicht storniert.",
        "Wenn ich die Buchung storniert habe, melde ich mich.",
        "No he cancelado la reserva.",
        "Je n'ai pas annulé la réservation.",
        "您的订单已取消。",
        "已为您取消的订单不能恢复。",
        "如果我已经为您退款，三天内到账。",
        "我没有为您退款。",
        "予約はキャンセルされました。",
    ],
)
def test_what_is_no_plain_claim_is_left_alone(output):
    assert status(said(output)) is not Status.FAIL


@pytest.mark.parametrize(
    "calls",
    [["issue_refund"], ["create_return"], ["run_python"], ["get_order", "transfer_to_agent"]],
    ids=["the-tool", "another-that-acts", "one-that-may-do-anything", "handed-on"],
)
def test_a_call_that_may_have_done_it_backs_the_claim(calls):
    assert status(said("I have refunded your order.", calls=calls)) is Status.PASS


def test_a_call_whose_result_nobody_sent_backs_the_claim():
    conversation = (
        ConversationBuilder(tools=TOOLS)
        .turn("Please", gaps=[GapKind.TOOL_RESULT_MISSING])
        .call("issue_refund", {"id": 1})
        .answer("I have refunded your order.")
        .build()
    )

    assert status(conversation) is Status.PASS


def test_a_call_in_an_earlier_turn_backs_the_claim():
    conversation = (
        ConversationBuilder(tools=TOOLS)
        .turn("Please")
        .call("issue_refund", {"id": 1}, result={"ok": True})
        .answer("On its way.")
        .turn("Really?")
        .answer("Yes, I have refunded your order.")
        .build()
    )

    assert status(turn_unit(conversation)) is Status.PASS


def test_a_claim_is_flagged_in_the_turn_that_makes_it_first():
    builder = ConversationBuilder(tools=TOOLS).turn("Please").answer("I have refunded your order.")
    conversation = builder.turn("Sure?").answer("Yes, I have refunded your order.").build()

    assert status(turn_unit(conversation, 0)) is Status.FAIL
    assert status(turn_unit(conversation, 1)) is Status.PASS


def test_without_a_tool_for_it_there_is_nothing_to_expect():
    assert status(said("I have refunded your order.", tools=("get_order",))) is Status.PASS


def test_without_known_tools_nothing_is_concluded():
    assert status(said("I have refunded your order.", tools=())) is Status.NOT_ASSESSABLE


@pytest.mark.parametrize("gap", [GapKind.CONTENT_OFF, GapKind.SPANS_MISSING, GapKind.HISTORY_COMPACTED], ids=str)
def test_with_a_gap_that_may_hide_the_call_nothing_is_concluded(gap):
    assert status(said("I have refunded your order.", gaps=[gap])) is Status.NOT_ASSESSABLE


def test_after_a_handoff_nothing_is_concluded():
    conversation = (
        ConversationBuilder(tools=TOOLS).turn("Please").handoff("billing").answer("I have refunded your order.").build()
    )

    assert status(conversation) is Status.NOT_ASSESSABLE


@pytest.mark.parametrize(
    "output",
    [
        "I've created a summary for you: it rained.",
        "I have updated the draft as you asked.",
        "I've changed the wording of the second paragraph.",
        "I have removed the last sentence from it.",
        "Ich habe den Text geändert und gekürzt.",
        "He creado una lista para ti.",
        "J'ai modifié le texte comme demandé.",
        "Ho creato un riassunto.",
        "Criei um resumo para você.",
        "已为您创建以下摘要。",
        "要約を作成しました。",
        "요약을 작성했습니다. 목록을 등록했습니다.",
    ],
)
def test_what_an_agent_writes_itself_needs_no_call(output):
    tools = ("create_ticket", "update_order", "delete_account")

    assert status(said(output, tools=tools)) is Status.NOT_APPLICABLE
    assert status(said("I've created a ticket for you.", tools=tools)) is Status.FAIL
