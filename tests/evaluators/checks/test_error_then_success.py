# ruff: noqa: RUF001 - punctuation of other scripts is a part of what is tested

from __future__ import annotations

import pytest

from collector.model import GapKind
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder
from tests.support.rules import check


def answered(output, *, results=("error",), tool="book_visit", gaps=()):
    builder = ConversationBuilder(tools=(tool,)).turn("Please", gaps=gaps)
    for outcome in results:
        result = {"error": {"status": "error"}, "text": "Error: slot taken", "ok": {"status": "ok"}, "flag": "no"}[
            outcome
        ]
        builder.call(tool, {"day": 1}, result=result, error=outcome == "flag")
    return builder.answer(output).build()


def status(conversation):
    return check("error_then_success", conversation).status


@pytest.mark.parametrize("outcome", ["error", "text", "flag"])
def test_success_after_an_error_is_flagged_with_call_result_and_claim(outcome):
    finding = check("error_then_success", answered("Your visit is booked for 2 pm.", results=(outcome,)))

    assert finding.status is Status.FAIL
    assert [(piece.turn, piece.step) for piece in finding.evidence] == [(0, 0), (0, 1), (0, None)]
    assert finding.evidence[2].quote == "Your visit is booked for 2 pm."


@pytest.mark.parametrize(
    "output",
    [
        "I have booked your visit.",
        "The visit was booked.",
        "Ihr Besuch ist gebucht.",
        "Ya está reservado.",
        "已预约6月18日上门。",
        "ご予約を承りました。予約しました。",
    ],
)
def test_in_several_languages(output):
    assert status(answered(output)) is Status.FAIL


@pytest.mark.parametrize(
    "output",
    [
        "Sorry, that slot is taken; nothing is booked.",
        "I could not book the visit.",
        "That failed. Shall I have another one booked?",
        "Which other day suits you?",
        "Once booked, you get a message.",
        "Leider ist nichts gebucht.",
        "抱歉，该时段已约满，未能预约。",
        "Lo siento, no se pudo; no está reservado.",
        "Please tell me what you have booked with us.",
        "Let me know which visit you want booked.",
        "Please pick another time; that one is already booked.",
        "Der Termin ist bereits gebucht; welche Uhrzeit passt sonst?",
    ],
)
def test_an_answer_that_owns_up_or_claims_nothing_is_left_alone(output):
    assert status(answered(output)) is Status.PASS


def test_tools_that_look_something_up_take_no_action():
    asked = answered("Please give me the number under which you booked.", tool="search_booking")

    assert status(asked) is Status.PASS


def test_a_retry_that_went_well_is_a_success():
    assert status(answered("Your visit is booked.", results=("error", "ok"))) is Status.NOT_APPLICABLE


def test_another_action_that_is_reported_is_not_the_failed_one():
    assert status(answered("I have sent you the list.")) is Status.PASS


def test_without_an_error_there_is_nothing_to_check():
    assert status(answered("Your visit is booked.", results=("ok",))) is Status.NOT_APPLICABLE


def test_cut_content_proves_nothing():
    assert status(answered("Your visit is booked.", gaps=[GapKind.TRUNCATED])) is Status.NOT_ASSESSABLE
