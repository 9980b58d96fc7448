from __future__ import annotations

import pytest

from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import check


def called(*outcomes: str):
    """`f` fails, `o` is fine, `x` fails with other arguments, `m` has no result, `/` begins a turn."""
    builder = ConversationBuilder().turn("Please")
    for outcome in outcomes:
        if outcome == "/":
            builder.answer("Hm.").turn("Again")
        elif outcome == "m":
            builder.call("fetch", {"n": 1})
        else:
            builder.call("fetch", {"n": 2 if outcome == "x" else 1}, result="no", error=outcome != "o")
    return builder.answer("Done.").build()


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ("ff", Status.PASS),
        ("fff", Status.FAIL),
        ("fof", Status.PASS),
        ("foff", Status.PASS),
        ("fxfx", Status.PASS),
        ("fxfxf", Status.FAIL),
        ("mmmm", Status.NOT_APPLICABLE),
        ("oooo", Status.NOT_APPLICABLE),
        ("f/f/f", Status.FAIL),
    ],
)
def test_the_third_identical_failure_in_a_row_is_flagged(outcomes, status):
    assert check("repeated_failing_call", called(*outcomes)).status is status


def test_it_is_flagged_in_the_turn_of_the_third():
    conversation = called(*"ff/f/o")

    statuses = [check("repeated_failing_call", turn_unit(conversation, index)).status for index in range(3)]

    assert statuses == [Status.PASS, Status.FAIL, Status.NOT_APPLICABLE]
