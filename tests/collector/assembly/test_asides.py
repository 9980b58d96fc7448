"""Calls beside the conversation are no turns, where what the agent went on from tells them."""

from __future__ import annotations

from typing import Any

from collector.model import Turn
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, rebuild, says, span, system

GUARD = system("Say safe or unsafe.")
CLERK = system("You are the clerk.")
HISTORY = [("Are you open?", "Yes, until six in the evening."), ("And on Sunday?", "On Sunday we are closed.")]


def requests(turns: int, **more: Any) -> list[Span]:
    """Each request is a trace: a guard, the clerk with the history so far, a title without a prompt of its own."""
    found: list[Span] = []
    history: list[dict[str, Any]] = []
    for turn, (asked, told) in enumerate(HISTORY[:turns]):
        history.append(asks(asked))
        at, trace = turn * 100, f"t{turn}"
        found += [
            span(f"top{turn}", more, at=at, lasts=90, trace=trace),
            _call(f"guard{turn}", [GUARD, asks(f"Judge: {asked}")], "safe", at + 5, trace),
            _call(f"clerk{turn}", [CLERK, *history], told, at + 20, trace),
            _call(f"title{turn}", [asks(f"A title for: {asked}")], "Opening times", at + 40, trace),
        ]
        history.append(says(told))
    return found


def _call(name: str, messages: list[dict[str, Any]], told: str, at: int, trace: str) -> Span:
    return span(name, chat(messages, told), at=at, lasts=5, trace=trace, parent=f"top{trace[1:]}")


def said(turns: tuple[Turn, ...]) -> list[tuple[str | None, str | None]]:
    return [(turn.user_input, turn.output) for turn in turns]


def test_guards_and_titles_beside_a_conversation_are_no_turns() -> None:
    (conversation,) = rebuild(requests(2))

    assert said(conversation.turns) == HISTORY
    assert conversation.system_instructions == "You are the clerk."


def test_nor_are_they_where_an_id_joins_calls_in_traces_of_their_own() -> None:
    named = {"gen_ai.conversation.id": "c-1"}
    alone = [
        span(f"s{n}", {**item.attributes, **named}, at=n * 10, trace=f"own{n}")
        for n, item in enumerate(item for item in requests(2) if item.attributes)
    ]

    (conversation,) = rebuild(alone)

    assert said(conversation.turns) == HISTORY


def test_what_nothing_went_on_from_is_shown_where_nothing_tells() -> None:
    (conversation,) = rebuild(requests(1))

    assert HISTORY[0] in said(conversation.turns)
    assert len(conversation.turns) == 3


def test_answers_without_a_history_are_turns() -> None:
    named = {"gen_ai.conversation.id": "c-1"}
    items = [
        span(f"s{n}", chat([system(f"It is day {n}."), asks(asked)], told) | named, at=n * 10, trace=f"t{n}")
        for n, (asked, told) in enumerate([*HISTORY, ("Thanks", "You are welcome.")])
    ]

    (conversation,) = rebuild(items)

    assert said(conversation.turns) == [*HISTORY, ("Thanks", "You are welcome.")]


def test_a_conversation_begun_anew_under_one_id_keeps_its_turns() -> None:
    named = {"gen_ai.conversation.id": "c-1"}
    (first, answer), second = HISTORY
    items = [
        span("a", chat([CLERK, asks(first)], answer) | named, at=0, trace="a"),
        span("b", chat([CLERK, asks(first), says(answer), asks("Thanks")], "Bye.") | named, at=10, trace="b"),
        span("c", chat([CLERK, asks(second[0])], second[1]) | named, at=20, trace="c"),
    ]

    (conversation,) = rebuild(items)

    assert said(conversation.turns) == [HISTORY[0], ("Thanks", "Bye."), second]


def test_a_router_that_is_sent_the_history_belongs_to_the_turn() -> None:
    named = {"gen_ai.conversation.id": "c-1"}
    (first, answer), (second, other) = HISTORY
    history = [asks(first), says(answer), asks(second)]
    items = [
        span("a", chat([CLERK, asks(first)], answer) | named, at=0, trace="a"),
        span("b", chat([system("Choose a desk."), *history], "orders") | named, at=10, trace="b"),
        span("c", chat([CLERK, *history], other) | named, at=20, trace="c"),
    ]

    (conversation,) = rebuild(items)

    assert said(conversation.turns) == HISTORY
