"""Calls that work on another's answer belong to its turn; what is about a turn does not."""

from __future__ import annotations

from typing import Any

import pytest

from collector.telemetry.records import Span
from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, says, span, system
from tests.support.two_turns import ARGUMENTS, ASKED, ASKED_NEXT, CALL, CALLED, RESULT, RETURNED, TOLD, TOOL, shown

PLAN = "First look the parcel up, then tell where it is."
PLANNER = system("You plan.")
CLERK = system("You are a clerk.")
WRITER = system("You reword.")
POLITE = "Dear customer, your parcel is in Oslo these days."
POLITE_NEXT = "Dear customer, it will be there on Friday."
TOLD_NEXT = "It arrives on Friday."
USE = calls((TOOL, CALL, ARGUMENTS))
TOOLS = {"gen_ai.tool.definitions": [{"type": "function", "name": TOOL}]}


def call(at: int, given: list[dict[str, Any]], answer: Any, *, trace: str = "t1", **more: Any) -> Span:
    return span(f"c{at}", chat(given, answer, **more), at=at, trace=trace, parent=f"r-{trace}")


def root(at: int, lasts: int, *, trace: str = "t1") -> Span:
    return span(f"r-{trace}", {"http.route": "/chat"}, at=at, lasts=lasts, trace=trace)


def test_who_carries_out_a_plan_goes_on_with_the_turn_of_the_planner() -> None:
    task = asks(f"Plan: {PLAN}\nTask: {ASKED}")
    spans = [
        root(0, 20),
        call(1, [PLANNER, asks(ASKED)], PLAN),
        call(3, [CLERK, task], [USE], **TOOLS),
        call(6, [CLERK, task, USE, returns(RESULT, CALL)], TOLD, **TOOLS),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], TOLD)]


def test_who_rewords_an_answer_gives_the_one_that_the_user_sees() -> None:
    history = [asks(ASKED), says(POLITE)]
    spans = [
        root(0, 9),
        call(1, [CLERK, asks(ASKED)], TOLD),
        call(3, [WRITER, asks(f"Reword: {TOLD}")], POLITE),
        root(20, 9, trace="t2"),
        call(21, [CLERK, *history, asks(ASKED_NEXT)], TOLD_NEXT, trace="t2"),
        call(23, [WRITER, asks(f"Reword: {TOLD_NEXT}")], POLITE_NEXT, trace="t2"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], POLITE), (ASKED_NEXT, [], POLITE_NEXT)]
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


def test_agents_that_are_told_what_another_one_said_take_one_turn() -> None:
    spans = [
        root(0, 20),
        span("a1", agent("planner", ASKED, PLAN), at=1, lasts=2, parent="r-t1"),
        span("a2", agent("clerk", f"Do this: {PLAN}", TOLD), at=4, lasts=2, parent="r-t1"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [("says", PLAN)], TOLD)]


def test_one_that_picks_among_answers_of_a_workflow_without_words_of_its_own_gives_its_answer() -> None:
    workflow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "flow"}
    spans = [
        span("r-t1", workflow, lasts=30),
        call(1, [CLERK, asks(ASKED)], TOLD),
        call(3, [CLERK, asks(ASKED)], POLITE),
        call(6, [system("You pick."), asks(f"Pick one: {TOLD} | {POLITE}")], "The second one is the better answer."),
    ]

    (conversation,) = rebuild(spans)

    assert [turn[0] for turn in shown(conversation)] == [ASKED]
    assert shown(conversation)[0][2] == "The second one is the better answer."


def test_a_grade_of_question_and_answer_does_not_become_the_answer() -> None:
    spans = [
        root(0, 20),
        call(1, [CLERK, asks(ASKED)], TOLD, **TOOLS),
        call(4, [system("You grade."), asks(f"Question: {ASKED}\nAnswer: {TOLD}")], "4 of 5"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation)[0] == (ASKED, [], TOLD)


def test_a_user_who_quotes_the_answer_before_begins_a_turn() -> None:
    quoting = f"You said: {TOLD} Is that so?"
    history = [CLERK, asks(ASKED), says(TOLD)]
    spans = [root(0, 20), call(1, history[:2], TOLD), call(5, [*history, asks(quoting)], "Yes, it is.")]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], TOLD), (quoting, [], "Yes, it is.")]


@pytest.mark.parametrize("shared", ["", f"Human: {ASKED}\nAI: {TOLD}"])
def test_a_summary_of_earlier_turns_is_not_what_the_user_asked(shared: str) -> None:
    summary = "The user asked for the parcel, and it is in Oslo."
    spans = [
        root(0, 4),
        call(1, [CLERK, asks(ASKED)], TOLD),
        root(10, 9, trace="t2"),
        call(11, [system("You sum up."), asks(f"Sum this up: {shared}")], summary, trace="t2"),
        call(14, [CLERK, asks(f"Known: {summary}"), says("I see."), asks(ASKED_NEXT)], TOLD_NEXT, trace="t2"),
    ]

    found = [turn for conversation in rebuild(spans) for turn in shown(conversation)]

    assert (ASKED_NEXT, [], TOLD_NEXT) in found


def test_a_list_that_lost_its_beginning_goes_on_with_the_turn() -> None:
    use = calls((TOOL, None, ARGUMENTS))
    spans = [
        span("a", agent("clerk"), lasts=30),
        span("c1", chat([asks("Hello."), says("Hello!"), asks(ASKED)], None), at=1, parent="a", dropped=9),
        span("c2", chat([asks(ASKED), use, returns(RESULT)], TOLD), at=5, parent="a", dropped=20),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [("Hello.", [], "Hello!"), (ASKED, [CALLED, RETURNED], TOLD)]
