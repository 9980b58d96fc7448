from __future__ import annotations

import pytest

from collector.model import TurnStatus
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import find


def conversation(*turns: list[str]):
    builder = ConversationBuilder()
    for tools in turns:
        builder.turn("Please")
        for tool in tools:
            builder.call(tool, {"query": "SELECT 1", "rows": [{"id": 7}]}, result={"status": "ok", "rows": 3})
        builder.answer("There you are.")
    return builder.build()


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ({"never": "drop_table"}, Status.PASS),
        ({"never": "run_sql"}, Status.FAIL),
        ({"never": "run_*"}, Status.FAIL),
        ({"never": ["drop_table", "run_sql"]}, Status.FAIL),
        ({"never": "run_sql", "where": {"query": {"matches": "(?i)delete|drop"}}}, Status.PASS),
        ({"never": "run_sql", "where": {"query": {"matches": "(?i)^select"}}}, Status.FAIL),
        ({"never": "run_sql", "where": {"rows.*.id": 7}}, Status.FAIL),
        ({"never": "run_sql", "where": {"rows.0.id": {"in": [1, 2]}}}, Status.PASS),
        ({"never": "run_sql", "result": {"rows": {"gt": 2}}}, Status.FAIL),
        ({"never": "run_sql", "result": {"rows": {"gt": 3}}}, Status.PASS),
        ({"never": "RUN_SQL"}, Status.PASS),
    ],
    ids=str,
)
def test_never(rule, status):
    assert find(rule, conversation(["run_sql"])).status is status


def test_never_quotes_the_call():
    finding = find({"never": "run_sql"}, conversation([], ["look", "run_sql"]))

    assert finding.reason == "run_sql (turn 1, step 2) was called, which is never allowed."
    assert [(piece.turn, piece.step) for piece in finding.evidence] == [(1, 2)]


@pytest.mark.parametrize(
    ("rule", "turns", "status"),
    [
        ({"require": "log_contact"}, [[], ["log_contact"]], Status.PASS),
        ({"require": "log_contact"}, [["look"], []], Status.FAIL),
        ({"require": "log_contact", "within": "turn"}, [[], ["log_contact"]], Status.FAIL),
        ({"require": "log_contact", "within": "turn"}, [["log_contact"], ["log_contact"]], Status.PASS),
        ({"require": "log_contact", "require_where": {"query": "x"}}, [["log_contact"]], Status.FAIL),
        ({"require": "log_contact", "require_result": {"status": "ok"}}, [["log_contact"]], Status.PASS),
    ],
    ids=["once", "missing", "each-turn", "each-turn-ok", "other-arguments", "result"],
)
def test_presence(rule, turns, status):
    assert find(rule, conversation(*turns)).status is status


def test_presence_in_a_conversation_is_not_demanded_of_its_turns():
    assert find({"require": "log_contact"}, turn_unit(conversation([], []), 0)).status is Status.NOT_APPLICABLE


def test_presence_is_not_demanded_of_a_turn_that_has_not_ended():
    open_turn = ConversationBuilder().turn("Please", status=TurnStatus.INCOMPLETE).build()

    assert find({"require": "log_contact", "within": "turn"}, open_turn).status is Status.NOT_ASSESSABLE
