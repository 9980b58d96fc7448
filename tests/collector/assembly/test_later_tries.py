"""A tool span without a result is followed by another of the same call: the model asked once."""

from __future__ import annotations

import pytest

from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, rebuild, returns, says, span, tool
from tests.support.two_turns import ARGUMENTS, ASKED, CALL, CALLED, RESULT, TOLD, TOOL, shown

USE = calls((TOOL, CALL, ARGUMENTS))


def talk(*tries: Span) -> list[Span]:
    return [
        span("c1", chat([asks(ASKED)], [USE]), at=1, parent="a"),
        *tries,
        span("c2", chat([asks(ASKED), USE, returns(RESULT, CALL), says("")], TOLD), at=20, parent="a"),
    ]


@pytest.mark.parametrize("given", [None, "null"], ids=["no result", "a result of nothing"])
def test_a_try_that_waited_for_an_approval_and_the_one_after_it_are_one_call(given: str | None) -> None:
    waits = tool(TOOL, ARGUMENTS)
    if given is not None:
        waits["gen_ai.tool.call.result"] = given
    spans = talk(
        span("t1", waits, at=4, parent="a"),
        span("t2", tool(TOOL, ARGUMENTS, RESULT), at=8, parent="a"),
    )

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, ("result", TOOL, RESULT)], TOLD)]


def test_two_tries_that_both_gave_something_back_are_two_calls() -> None:
    spans = talk(
        span("t1", tool(TOOL, ARGUMENTS, {"place": "Rome"}), at=4, parent="a"),
        span("t2", tool(TOOL, ARGUMENTS, RESULT), at=8, parent="a"),
    )

    (conversation,) = rebuild(spans)

    assert [step[0] for step in shown(conversation)[0][1]].count("call") == 2


def test_a_try_that_failed_before_the_one_that_is_known_by_its_id_is_the_same_call() -> None:
    spans = talk(
        span("t1", tool(TOOL, ARGUMENTS), at=4, parent="a", error=True),
        span("t2", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL), at=8, parent="a"),
    )

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, ("result", TOOL, RESULT)], TOLD)]
