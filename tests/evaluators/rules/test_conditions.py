# ruff: noqa: RUF001 - wide letters are a part of what is tested
from __future__ import annotations

import pytest

from evaluators.rules.conditions import holds
from evaluators.rules.reading import RuleReader
from tests.support.conversations import ConversationBuilder
from tests.support.rules import find

VALUE = {
    "amount": 24.9,
    "text_amount": "24.90",
    "yes": "true",
    "currency": "EUR",
    "day": "2026-03-17",
    "items": [{"sku": "A1"}, {"sku": "B2"}],
    "a.b": {"c": 1},
    "none": None,
    "wide": "ＤＲＯＰ Straße",
    "json": '{"inner": [{"sku": "C3"}]}',
}


def conditions(where):
    problems: list[str] = []
    found = RuleReader("rules[0]", {"where": where}, problems).conditions("where")
    assert problems == []
    return found


@pytest.mark.parametrize(
    ("where", "answer"),
    [
        ({"amount": 24.9}, True),
        ({"amount": "24.90"}, True),
        ({"text_amount": 24.9}, True),
        ({"text_amount": {"gt": 24}}, True),
        ({"amount": {"gt": 24.9}}, False),
        ({"amount": {"gte": 24.9, "lt": 30}}, True),
        ({"amount": {"lte": "20"}}, False),
        ({"yes": True}, True),
        ({"yes": False}, False),
        ({"amount": True}, False),
        ({"currency": ["EUR", "USD"]}, True),
        ({"currency": {"not_in": ["EUR"]}}, False),
        ({"currency": {"ne": "USD"}}, True),
        ({"currency": "eur"}, False),
        ({"day": {"lt": "2026-04-01"}}, True),
        ({"currency": {"gt": 3}}, None),
        ({"items.*.sku": "B2"}, True),
        ({"items.1.sku": "A1"}, False),
        ({"items.9.sku": "A1"}, False),
        ({"items": {"contains": "b2"}}, True),
        ({"wide": {"contains": "drop strasse"}}, True),
        ({"currency": {"matches": "^E"}}, True),
        ({"missing": {"exists": False}}, True),
        ({"missing": {"exists": True}}, False),
        ({"missing": 3}, False),
        ({"missing": {"ne": 3}}, True),
        ({"missing": {"gt": 3}}, False),
        ({"a.b": {"exists": True}}, True),
        ({"a.b.c": 1}, False),
        ({"$": {"contains": "2026-03"}}, True),
        ({"amount": {"gt": 1}, "currency": "USD"}, False),
        ({"none": {"exists": True}}, False),
        ({"none": {"exists": False}}, True),
        ({"none": {"gt": 3}}, False),
        ({"none": None}, True),
        ({"currency": {"gt": "100"}}, None),
        ({"json.inner.*.sku": "C3"}, True),
        ({"json.inner.0.sku": "A1"}, False),
    ],
    ids=str,
)
def test_conditions(where, answer):
    assert holds(conditions(where), VALUE, resolve=lambda _: None) is answer


@pytest.mark.parametrize("value", [None, "free text"], ids=["unknown", "text"])
def test_what_the_telemetry_does_not_hold_is_neither_true_nor_false(value):
    assert holds(conditions({"amount": 3}), value, resolve=lambda _: None) is None


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(\w+\s?)*@", r"(a|a|aa)*b", r"(.*a){20}b"])
def test_no_text_keeps_a_pattern_busy(pattern):
    """Any of these takes a backtracking engine longer than a test may."""
    wanted = conditions({"$": {"matches": pattern}})

    assert holds(wanted, "a" * 5000 + "!", resolve=lambda _: None) is False


@pytest.mark.parametrize(
    ("text", "answer"), [("x" * 300_000, None), ("x" * 150_000 + "drop", True), ("\ud800 drop", True)]
)
def test_what_is_too_long_to_be_searched_is_not_taken_for_clean(text, answer):
    assert holds(conditions({"$": {"matches": "(?i)DROP"}}), text, resolve=lambda _: None) is answer


def test_free_text_can_be_searched_as_a_whole():
    assert holds(conditions({"$": {"contains": "Denied"}}), "access denied", resolve=lambda _: None) is True


@pytest.mark.parametrize(("amount", "broken"), [(24.9, False), (25, True)])
def test_a_value_is_compared_with_a_result_of_another_tool(amount, broken):
    conversation = (
        ConversationBuilder()
        .turn("Refund")
        .call("get_order", {"id": 1}, result={"total": {"eur": 99}})
        .call("get_order", {"id": 2}, result={"total": {"eur": "24.90"}})
        .call("issue_refund", {"amount": amount}, result={})
        .call("get_order", {"id": 3}, result={"total": {"eur": 99}})
        .build()
    )
    rule = {"never": "issue_refund", "where": {"amount": {"gt": {"result_of": "get_order", "path": "total.eur"}}}}

    assert (find(rule, conversation).status.value == "fail") is broken


def test_without_that_result_nothing_is_concluded():
    conversation = ConversationBuilder().turn("Refund").call("issue_refund", {"amount": 3}, result={}).build()
    rule = {"never": "issue_refund", "where": {"amount": {"gt": {"result_of": "get_order", "path": "total"}}}}

    assert find(rule, conversation).status.value == "not_assessable"
