from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model import ToolCallStep, ToolResultStep
from evaluators.timeline import leaves, parsed, says_failed, timeline_of
from tests.support.conversations import ConversationBuilder, conversation_unit


def paired(*turns: list[object]):
    """For each call, the result that it is paired with."""
    builder = ConversationBuilder()
    for _ in turns:
        builder.turn("x")
    conversation = builder.build()
    filled = tuple(replace(turn, steps=tuple(steps)) for turn, steps in zip(conversation.turns, turns, strict=True))
    timeline = timeline_of(conversation_unit(replace(conversation, turns=filled)))
    return [(call.name, None if call.result is None else call.result.value) for call in timeline.calls]


def call(name, call_id=None):
    return ToolCallStep(name, {}, call_id=call_id)


def result(value, *, name=None, call_id=None):
    return ToolResultStep(value, name=name, call_id=call_id)


def test_results_are_paired_by_id_in_any_order():
    steps = [call("a", "1"), call("a", "2"), result("two", call_id="2"), result("one", call_id="1")]

    assert paired(steps) == [("a", "one"), ("a", "two")]


def test_calls_with_one_id_get_their_results_in_order():
    steps = [call("a", ""), call("a", ""), result("one", call_id=""), result("two", call_id="")]

    assert paired(steps) == [("a", "one"), ("a", "two")]
    assert paired([call("a", "1"), call("a", "1"), result("one", call_id="1")]) == [("a", "one"), ("a", None)]


def test_without_ids_by_name_and_order():
    steps = [call("a"), call("b"), call("a"), result(1, name="b"), result(2, name="a"), result(3, name="a")]

    assert paired(steps) == [("a", 2), ("b", 1), ("a", 3)]


def test_a_result_never_comes_before_its_call():
    assert paired([result(1, name="a"), call("a")]) == [("a", None)]


def test_a_result_may_come_in_a_later_turn():
    assert paired([call("a", "1")], [result("late", call_id="1")]) == [("a", "late")]


def test_a_call_that_nobody_answered_has_no_result():
    assert paired([call("a", "1"), result("x", call_id="other")]) == [("a", None)]


@pytest.mark.parametrize(
    ("value", "failed"),
    [
        ("Error: timeout", True),
        ("Traceback (most recent call last):\n", True),
        ("ValueError: no such order", True),
        ("Error executing tool look: no", True),
        ("An error occurred while looking.", True),
        ("Tool execution failed", True),
        ("Errors were not found.", False),
        ("Error rate is 3 %", False),
        ("no error", False),
        ({"error": "x"}, True),
        ({"error": {"code": 3}}, True),
        ({"error": None}, False),
        ({"error": ""}, False),
        ({"error": 0.02}, False),
        ({"error": True}, True),
        ({"error": False}, False),
        ({"error": {}}, False),
        ({"error": []}, False),
        ({"error": "None"}, False),
        ({"error": "none of the rooms is free"}, True),
        ({"isError": True}, True),
        ({"success": False}, True),
        ({"success": True}, False),
        ({"status": "FAILED"}, True),
        ({"status": "fault"}, False),
        ({"ok": False}, True),
        ([{"error": "x"}], False),
        (None, False),
    ],
    ids=str,
)
def test_only_plain_words_make_a_result_a_failure(value, failed):
    assert says_failed(value) is failed


@pytest.mark.parametrize(
    ("value", "read"),
    [('{"a": 1}', {"a": 1}), (" [1]", [1]), ("{not json", "{not json"), ("7", "7"), (None, None)],
    ids=str,
)
def test_json_text_is_read(value, read):
    assert parsed(value) == read


def test_leaves_are_single_values_at_any_depth():
    assert list(leaves({"a": [1, {"b": "x"}], "c": None, "d": True})) == [1, "x", True]
