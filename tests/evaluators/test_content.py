from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model import GapKind
from evaluators.content import content_digest, content_of, digest_of
from tests.support.conversations import ConversationBuilder, conversation_unit, refund_conversation, turn_unit


def base():
    return turn_unit(refund_conversation(verified=True))


def with_turn(unit, **changes):
    turns = (*unit.conversation.turns[:-1], replace(unit.turn, **changes))
    return replace(unit, conversation=replace(unit.conversation, turns=turns))


def with_step(unit, **changes):
    steps = unit.turn.steps
    return with_turn(unit, steps=(replace(steps[0], **changes), *steps[1:]))


@pytest.mark.parametrize(
    "changed",
    [
        lambda unit: replace(unit, revision=9),
        lambda unit: with_turn(unit, start_ns=1, end_ns=2, input_tokens=3, response_id="other", model="m"),
        lambda unit: with_step(unit, span_id="other"),
        lambda unit: replace(unit, conversation=replace(unit.conversation, resource={"host": "b"})),
    ],
    ids=["revision", "times-and-counts", "span-of-a-step", "resource"],
)
def test_what_no_judge_is_shown_does_not_count(changed):
    assert content_digest(changed(base())) == content_digest(base())


@pytest.mark.parametrize(
    "changed",
    [
        lambda unit: with_turn(unit, output="Other."),
        lambda unit: with_turn(unit, user_input=None),
        lambda unit: with_turn(unit, gaps=(GapKind.TRUNCATED,)),
        lambda unit: with_turn(unit, steps=unit.turn.steps[::-1]),
        lambda unit: with_step(unit, arguments={"email": "b"}),
        lambda unit: with_step(unit, name="other"),
        lambda unit: replace(unit, conversation=replace(unit.conversation, system_instructions="Other.")),
        lambda unit: conversation_unit(unit.conversation),
    ],
    ids=["output", "input", "gap", "order", "arguments", "tool", "system", "kind"],
)
def test_what_a_judge_is_shown_counts(changed):
    assert content_digest(changed(base())) != content_digest(base())


def test_call_ids_count_by_what_they_pair():
    def pair(first, second, answered):
        builder = ConversationBuilder().turn("x").call("a", {}, call_id=first).call("a", {}, call_id=second)
        return content_digest(turn_unit(builder.result("a", 1, call_id=answered).build()))

    assert pair("1", "2", "1") == pair("x", "y", "x")
    assert pair("1", "2", "1") != pair("1", "2", "2")


def test_the_order_of_keys_does_not_count():
    assert digest_of({"a": 1, "b": [2, {"c": 3, "d": 4}]}) == digest_of({"b": [2, {"d": 4, "c": 3}], "a": 1})


@pytest.mark.parametrize(
    "value", [2**80, "\ud800", float("inf"), {"a": (1, 2)}], ids=["big", "surrogate", "inf", "tuple"]
)
def test_any_value_of_telemetry_has_a_digest(value):
    assert len(digest_of(value)) == 32


def test_the_size_grows_with_the_content():
    assert content_of(with_turn(base(), output="x" * 5000)).size - content_of(base()).size > 4000
