from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.finding import Status
from evaluators.formats import conversation_from
from evaluators.rules.declared import read_rules
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import check, find

PLAIN = ConversationBuilder().turn("Where is my order?").call("get_order", {}, result={}).answer("It was sent.").build()


def used(*, input_tokens=1_000_000, output_tokens=10_000, model="gpt-5-mini", seconds=5.0):
    turn = PLAIN.turns[0]
    changed = replace(
        turn,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=model,
        end_ns=turn.start_ns + int(seconds * 1e9),
    )
    return replace(PLAIN, turns=(changed,))


@pytest.mark.parametrize(
    ("demand", "status"),
    [
        ({"latency_s": {"lte": 5}}, Status.PASS),
        ({"latency_s": {"lt": 5}}, Status.FAIL),
        ({"input_tokens": {"lte": 999_999}}, Status.FAIL),
        ({"output_tokens": {"lte": 10_000}}, Status.PASS),
        ({"total_tokens": {"lte": 1_010_000}}, Status.PASS),
        ({"total_tokens": {"lt": 1_010_000}}, Status.FAIL),
        ({"cost_usd": {"lte": 0.28}}, Status.PASS),
        ({"cost_usd": {"lt": 0.25}}, Status.FAIL),
        ({"calls": {"lte": 1}, "steps": 2}, Status.PASS),
        ({"answer": {"matches": "(?i)sent"}}, Status.PASS),
        ({"answer": {"contains": "tracking number"}}, Status.FAIL),
        ({"status": "ok", "model": ["gpt-5-mini", "gpt-5"]}, Status.PASS),
    ],
    ids=str,
)
def test_what_a_turn_took_used_and_said_can_be_demanded(demand, status):
    assert find({"turn": demand}, used()).status is status


def test_a_cost_that_was_given_is_the_cost():
    turn = replace(used().turns[0], cost_usd=2.0)

    assert find({"turn": {"cost_usd": {"lt": 1}}}, replace(PLAIN, turns=(turn,))).status is Status.FAIL


def test_what_was_retrieved_can_be_demanded_and_is_no_orphan():
    conversation = conversation_from(
        {"turns": [{"input": "Opening hours?", "actual_output": "9 to 5.", "retrieval_context": ["Open 9 to 5."]}]}
    )

    assert find({"turn": {"retrieved": {"contains": "9 to 5"}}}, conversation).status is Status.PASS
    assert find({"turn": {"retrieved": {"contains": "Sunday"}}}, conversation).status is Status.FAIL
    assert check("orphan_result", conversation).status is Status.NOT_APPLICABLE


def test_a_breach_says_what_was_found_and_what_was_demanded():
    finding = find({"turn": {"latency_s": {"lte": 3}}}, used(seconds=4.5))

    assert finding.reason == "In turn 0 latency_s is 4.5, where latency_s is at most 3 is demanded."
    assert finding.evidence[0].quote == "It was sent."


@pytest.mark.parametrize(
    ("changes", "demand"),
    [
        ({"input_tokens": None}, {"total_tokens": {"lte": 1}}),
        ({"output_tokens": None}, {"cost_usd": {"lte": 1}}),
        ({"model": "a-model-nobody-prices"}, {"cost_usd": {"lte": 1}}),
        ({"model": None}, {"model": "gpt-5"}),
    ],
    ids=["no-input-tokens", "no-output-tokens", "no-price", "no-model"],
)
def test_what_the_telemetry_does_not_hold_is_no_failure(changes, demand):
    assert find({"turn": demand}, used(**changes)).status is Status.NOT_ASSESSABLE


def test_turns_that_the_rule_is_not_about_are_free():
    conversation = ConversationBuilder().turn("Hi").answer("Hi").turn("A refund").answer("Done").build()
    rule = {"turn": {"answer": {"contains": "refund policy"}}, "where": {"user_input": {"contains": "refund"}}}

    assert find(rule, turn_unit(conversation, 0)).status is Status.NOT_APPLICABLE
    assert find(rule, turn_unit(conversation, 1)).status is Status.FAIL
    assert "In turn 1" in find(rule, conversation).reason


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"turn": None}, "rules[0].turn is not given and must be a mapping of latency_s,"),
        ({"turn": {"latency": {"lte": 1}}}, "rules[0].turn.latency: there is no such field; did you mean 'latency_s'?"),
        (
            {"turn": {"cost_usd": {"lte": {"result_of": "get_price", "path": "usd"}}}},
            "must be a plain value: a field has no result to refer to",
        ),
        ({"turn": {"calls": 1}, "where": {"day": "monday"}}, "rules[0].where.day: there is no such field"),
    ],
    ids=["nothing", "unknown-field", "reference", "unknown-field-in-where"],
)
def test_mistakes_are_named_with_their_place(rule, problem):
    with pytest.raises(EvaluatorConfigError) as caught:
        read_rules([rule])

    assert problem in str(caught.value)


def test_the_rule_reads_as_a_demand():
    (declared,) = read_rules([{"turn": {"latency_s": {"lte": 30}, "calls": {"lt": 5}}, "where": {"agent": "triage"}}])

    assert str(declared.rule) == "in each turn where agent is triage, latency_s is at most 30 and calls is under 5"
