from __future__ import annotations

import pytest

from collector.model import GapKind, TurnStatus
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder
from tests.support.rules import check


def status(builder):
    return check("no_answer", builder.build()).status


@pytest.mark.parametrize("output", [None, "", " \n"], ids=["none", "empty", "blank"])
def test_a_turn_without_an_answer_is_flagged_with_what_was_asked(output):
    finding = check("no_answer", ConversationBuilder().turn("Where is my order?").answer(output).build())

    assert finding.status is Status.FAIL
    assert finding.evidence[0].quote == "Where is my order?"


def test_a_turn_that_ended_in_an_error_left_the_user_alone():
    builder = ConversationBuilder().turn("Hello?", status=TurnStatus.ERROR).call("look", {}, result="x", error=True)

    assert status(builder) is Status.FAIL


def test_an_answer_is_an_answer():
    assert status(ConversationBuilder().turn("Hello?").answer("Hello.")) is Status.PASS
    assert status(ConversationBuilder().turn("Hello?").say("Hello.")) is Status.PASS


def test_without_a_question_none_is_owed():
    assert status(ConversationBuilder().turn(None)) is Status.NOT_APPLICABLE
    assert status(ConversationBuilder().turn("")) is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    "gap", [GapKind.OUTPUT_MISSING, GapKind.CONTENT_OFF, GapKind.TRUNCATED, GapKind.UNDECODABLE], ids=str
)
def test_an_answer_that_the_telemetry_does_not_hold_may_have_been_given(gap):
    assert status(ConversationBuilder().turn("Hello?", gaps=[gap])) is Status.NOT_ASSESSABLE


@pytest.mark.parametrize(
    "builder",
    [
        ConversationBuilder().turn("Delete it").call("confirm_in_browser", {}),
        ConversationBuilder().turn("Show it").call("render", {}, result={"html": "..."}),
        ConversationBuilder().turn("A human, please").handoff("human"),
    ],
    ids=["carried-out-elsewhere", "result-shown", "handed-over"],
)
def test_a_turn_that_may_go_on_elsewhere_is_flagged_and_not_failed(builder):
    finding = check("no_answer", builder.build())

    assert finding.status is Status.FLAGGED
    assert "no answer to the user" in finding.reason


def test_a_turn_that_had_not_ended_may_still_be_answered():
    assert status(ConversationBuilder().turn("Hello?", status=TurnStatus.INCOMPLETE)) is Status.NOT_ASSESSABLE
