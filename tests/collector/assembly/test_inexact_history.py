"""Histories that are not replayed as they were: what still joins them, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.assembly.link import link
from collector.assembly.link_keys import link_keys
from collector.model import Conversation
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, read_all, rebuild, returns, says, span, system

RULE = system("Be brief.")
OPENING = asks("When does the museum open?")
OPENS = says("It opens at nine in the morning.")


def texts(conversation: Conversation) -> list[tuple[str | None, str | None]]:
    return [(turn.user_input, turn.output) for turn in conversation.turns]


def share_a_key(items: list[Span]) -> bool:
    first, second = (link_keys([operation]) for operation in read_all(items))
    return bool(first.provides & set(second.needs))


def test_an_empty_answer_is_gone_on_from() -> None:
    silent = {"role": "assistant", "parts": []}
    items = [
        span("a", chat([RULE, OPENING], [silent]), trace="a"),
        span("b", chat([RULE, OPENING, silent, asks("Hello?")], "Yes?"), at=50, trace="b"),
    ]

    (conversation,) = rebuild(items)

    assert texts(conversation) == [("When does the museum open?", None), ("Hello?", "Yes?")]
    assert share_a_key(items)


def test_an_application_may_keep_a_part_of_the_answer() -> None:
    answer = json.dumps({"reply": "It opens at nine in the morning.", "mood": "calm"})
    items = [
        span("a", chat([RULE, OPENING], answer), trace="a"),
        span("b", chat([RULE, OPENING, OPENS, asks("And closes?")], "At six."), at=50, trace="b"),
    ]

    (conversation,) = rebuild(items)

    assert [user for user, _ in texts(conversation)] == ["When does the museum open?", "And closes?"]
    assert share_a_key(items)


@pytest.mark.parametrize(
    "replay",
    [[OPENS], [says("It opens"), says(" at nine"), says(" in the morning.")]],
    ids=["as-one-message", "as-one-message-a-piece"],
)
def test_of_a_stream_the_last_piece_alone_may_be_known(replay: list[dict[str, Any]]) -> None:
    items = [
        span("a", chat([RULE, OPENING], " in the morning."), trace="a"),
        span("b", chat([RULE, OPENING, *replay, asks("And closes?")], "At six."), at=50, trace="b"),
    ]

    (conversation,) = rebuild(items)

    assert texts(conversation) == [
        ("When does the museum open?", "It opens at nine in the morning."),
        ("And closes?", "At six."),
    ]
    assert share_a_key(items)


def test_what_was_never_said_is_no_part_of_an_answer() -> None:
    items = [
        span("a", chat([RULE, OPENING], "It opens at nine in the morning."), trace="a"),
        span("b", chat([RULE, OPENING, says("It is closed."), asks("Why?")], "Repairs."), at=50, trace="b"),
    ]

    assert len(rebuild(items)) == 2


def test_the_user_speaks_again_after_a_call_that_failed() -> None:
    items = [
        span("a", chat([RULE, OPENING], None), trace="a", error=True),
        span("b", chat([RULE, OPENING, asks("Are you there?")], "Yes, at nine."), at=50, trace="b"),
    ]

    (conversation,) = rebuild(items)

    assert texts(conversation) == [("When does the museum open?", None), ("Are you there?", "Yes, at nine.")]
    assert share_a_key(items)


def test_the_first_words_of_a_conversation_are_sent_again_after_a_failure() -> None:
    items = [
        span("a", chat([RULE, OPENING], None), trace="a", error=True),
        span("b", chat([RULE, OPENING], None), at=20, trace="b", error=True),
        span("c", chat([RULE, OPENING], "At nine."), at=50, trace="c"),
    ]

    (conversation,) = rebuild(items)

    assert texts(conversation) == [("When does the museum open?", "At nine.")]
    assert share_a_key(items[:2])
    assert share_a_key(items[1:])


@pytest.mark.parametrize("answer", ["At nine.", None], ids=["known", "never-recorded"])
def test_the_same_first_words_after_an_answer_are_another_conversation(answer: str | None) -> None:
    items = [span(name, chat([RULE, OPENING], answer), at=at, trace=name) for name, at in (("a", 0), ("b", 50))]

    assert len(rebuild(items)) == 2


def test_a_call_that_was_answered_is_not_gone_on_from_without_its_answer() -> None:
    items = [
        span("a", chat([RULE, OPENING], "At nine."), trace="a"),
        span("b", chat([RULE, OPENING, asks("Are you there?")], "Yes."), at=50, trace="b"),
    ]

    assert len(rebuild(items)) == 2


LONG = "It opens at nine in the morning and closes at six, on Mondays at three."


def altered(prefix: str, last: str, history: list[dict[str, Any]], *, at: int = 0) -> list[Span]:
    """Two turns; the second one's history is not the list that the first one sent."""
    begun = [asks(f"I am {prefix}."), says(f"Hello {prefix}.")]
    return [
        span(f"{prefix}1", chat([RULE, *begun, OPENING], LONG), at=at, trace=f"{prefix}1"),
        span(f"{prefix}2", chat([RULE, *history, asks(last)], "Sure."), at=at + 50, trace=f"{prefix}2"),
    ]


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([OPENING, says(LONG)], id="cut-at-its-beginning"),
        pytest.param([says(LONG)], id="cut-before-the-answer"),
        pytest.param([asks("Context: none.\nWhen does the museum open?"), says(LONG)], id="within-a-template"),
    ],
)
def test_a_history_that_is_not_the_list_that_was_sent_goes_on_from_its_last_answer(
    history: list[dict[str, Any]],
) -> None:
    items = altered("ann", "May I bring a dog?", history)

    (conversation,) = rebuild(items)

    users = [user for user, _ in texts(conversation)]
    assert users == ["I am ann.", "When does the museum open?", "May I bring a dog?"]
    assert share_a_key(items)


def test_a_template_around_the_latest_words_only_is_no_edited_history() -> None:
    wrapped = [asks(f"Context: none.\n{text}") for text in ("When does the museum open?", "And on Mondays?")]
    items = [
        span("a", chat([RULE, wrapped[0]], LONG), trace="a"),
        span("b", chat([RULE, OPENING, says(LONG), wrapped[1]], "At three."), at=50, trace="b"),
    ]

    (conversation,) = rebuild(items)

    assert [(turn.output, turn.gaps) for turn in conversation.turns] == [(LONG, ()), ("At three.", ())]


def test_a_history_without_the_tools_goes_on_all_the_same() -> None:
    wanted, result = calls(("hours", "call-00001", {})), returns("9-18", "call-00001")
    items = [
        span("a", chat([RULE, OPENING], [wanted]), trace="a"),
        span("b", chat([RULE, OPENING, wanted, result], LONG), at=20, trace="b"),
        span("c", chat([RULE, OPENING, says(LONG), asks("Thanks")], "Bye."), at=50, trace="c"),
    ]

    (conversation,) = rebuild(items)

    assert texts(conversation) == [("When does the museum open?", LONG), ("Thanks", "Bye.")]
    assert [step.kind for step in conversation.turns[0].steps] == ["tool_call", "tool_result"]


def test_an_answer_that_two_conversations_hold_joins_nobody() -> None:
    window = [OPENING, says(LONG)]

    groups = link(read_all([*altered("ann", "A dog?", window), *altered("bob", "A parrot?", window, at=5)]))

    assert sorted(len(group) for group in groups) == [1, 1, 1, 1]


def test_an_answer_to_other_words_joins_nobody() -> None:
    assert len(link(read_all(altered("ann", "A dog?", [asks("And in winter?"), says(LONG)])))) == 2


def test_a_short_answer_joins_nobody() -> None:
    items = [
        span("a", chat([RULE, asks("I am ann."), says("Hello ann."), OPENING], "At nine."), trace="a"),
        span("b", chat([RULE, OPENING, says("At nine."), asks("Why?")], "So."), at=50, trace="b"),
    ]

    assert len(link(read_all(items))) == 2
