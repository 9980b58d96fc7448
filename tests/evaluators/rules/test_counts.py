from __future__ import annotations

import pytest

from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import find


def conversation(*turns: list[tuple[str, object]]):
    builder = ConversationBuilder()
    for calls in turns:
        builder.turn("Please")
        for tool, arguments in calls:
            builder.call(tool, arguments, result={"ok": True})
        builder.answer("There you are.")
    return builder.build()


A, B, A2 = ("a", {"n": 1}), ("b", {"n": 1}), ("a", {"n": 2})


@pytest.mark.parametrize(
    ("rule", "turns", "status"),
    [
        ({"max_calls": 2}, [[A, B]], Status.PASS),
        ({"max_calls": 2}, [[A, B, A]], Status.FAIL),
        ({"max_calls": 2}, [[A, B], [A]], Status.FAIL),
        ({"max_calls": 2, "within": "turn"}, [[A, B], [A]], Status.PASS),
        ({"max_calls": 1, "tool": "a"}, [[A, B, B]], Status.PASS),
        ({"max_calls": 1, "tool": "a"}, [[A, A2]], Status.FAIL),
        ({"max_calls": 0, "tool": "b"}, [[A]], Status.PASS),
        ({"max_calls": 1, "tool": "a", "where": {"n": 1}}, [[A, A2]], Status.PASS),
        ({"min_calls": 2, "tool": "a"}, [[A], [A2]], Status.PASS),
        ({"min_calls": 2, "tool": "a", "within": "turn"}, [[A], [A2]], Status.FAIL),
        ({"min_calls": 1, "tool": "c"}, [[A]], Status.FAIL),
        ({"max_repeats": 2}, [[A, B, A2, A]], Status.PASS),
        ({"max_repeats": 2}, [[A, B, A, A2, A]], Status.FAIL),
        ({"max_repeats": 1, "tool": "b"}, [[A, A, B]], Status.PASS),
        ({"max_repeats": 1}, [[A], [A]], Status.PASS),
        ({"max_repeats": 1, "within": "conversation"}, [[A], [A]], Status.FAIL),
    ],
    ids=str,
)
def test_counts(rule, turns, status):
    assert find(rule, conversation(*turns)).status is status


def test_only_the_calls_over_the_limit_are_flagged_and_only_in_the_judged_turn():
    judged = conversation([A, A, A], [B], [A, B])
    rule = {"max_calls": 3}

    assert find(rule, turn_unit(judged, 0)).status is Status.PASS
    assert find(rule, turn_unit(judged, 1)).count == 1
    assert [(piece.turn, piece.step) for piece in find(rule, turn_unit(judged, 2)).evidence] == [(2, 0), (2, 2)]
    assert find(rule, judged).count == 3


def test_arguments_in_another_order_are_the_same_call():
    repeated = conversation([("a", {"x": 1, "y": 2}), ("a", {"y": 2, "x": 1})])

    assert find({"max_repeats": 1}, repeated).status is Status.FAIL


def test_least_count_of_a_conversation_is_not_demanded_of_its_turns():
    assert find({"min_calls": 1, "tool": "c"}, turn_unit(conversation([A]))).status is Status.NOT_APPLICABLE
