"""Agents that work on the same words, each with a history of its own."""

from __future__ import annotations

from typing import Any

from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, rebuild, says, span, system
from tests.support.two_turns import ASKED, ASKED_NEXT, TOLD, TOLD_NEXT, shown

FLOW = {"gen_ai.operation.name": "invoke_workflow"}
BEFORE = [asks(ASKED)]
OTHER, LAST = "The parcel is on its way to Oslo.", "It arrives on Friday, from Oslo."


def call(at: int, history: list[dict[str, Any]], answer: str, *, lasts: int = 4) -> Span:
    return span(
        f"c{at}", chat([system(f"agent {at % 7}"), *history], answer), at=at, lasts=lasts, parent="w2", trace="t2"
    )


def talk(*second: Span) -> list[Span]:
    named = {"gen_ai.conversation.id": "k"}
    return [
        span("w1", FLOW | named, lasts=9, trace="t1"),
        span("c1", chat(BEFORE, TOLD), at=1, parent="w1", trace="t1"),
        span("w2", FLOW | named, at=20, lasts=60, trace="t2"),
        *second,
    ]


def test_agents_side_by_side_answer_one_turn() -> None:
    spans = talk(
        call(21, [*BEFORE, says(TOLD), asks(ASKED_NEXT)], TOLD_NEXT),
        call(23, [*BEFORE, says(OTHER), asks(ASKED_NEXT)], OTHER),
    )

    (conversation,) = rebuild(spans)

    assert [turn[0] for turn in shown(conversation)] == [ASKED, ASKED_NEXT]


def test_one_that_was_told_what_another_answered_goes_on_with_the_turn() -> None:
    spans = talk(
        call(21, [*BEFORE, says(TOLD), asks(ASKED_NEXT)], TOLD_NEXT),
        call(30, [*BEFORE, says(OTHER), asks(ASKED_NEXT), says(TOLD_NEXT)], LAST),
    )

    (conversation,) = rebuild(spans)

    assert [turn[0] for turn in shown(conversation)] == [ASKED, ASKED_NEXT]
    assert shown(conversation)[-1][2] == LAST


def test_the_same_words_once_more_after_the_answer_are_a_turn() -> None:
    spans = talk(
        call(21, [*BEFORE, says(TOLD), asks("Yes.")], "Done."),
        call(30, [*BEFORE, says(TOLD), asks("Yes."), says("Done."), asks("Yes.")], "Done again."),
    )

    (conversation,) = rebuild(spans)

    assert [turn[0] for turn in shown(conversation)] == [ASKED, "Yes.", "Yes."]
