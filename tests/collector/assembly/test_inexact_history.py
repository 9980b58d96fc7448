"""Histories that are not replayed as they were: what still joins them, and what does not."""

from __future__ import annotations

import json

from collector.assembly.link import link
from collector.assembly.link_keys import link_keys
from collector.model import Conversation
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, read_all, rebuild, says, span, system

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


def test_a_call_that_was_answered_is_not_gone_on_from_without_its_answer() -> None:
    items = [
        span("a", chat([RULE, OPENING], "At nine."), trace="a"),
        span("b", chat([RULE, OPENING, asks("Are you there?")], "Yes."), at=50, trace="b"),
    ]

    assert len(rebuild(items)) == 2


def trimmed(prefix: str, last: str, *, common: bool = False, at: int = 0) -> list[Span]:
    """The window is two exchanges wide, so the second call has no beginning any more."""
    name = "nobody" if common else prefix
    begun = [asks(f"I am {prefix}."), says(f"Hello {prefix}.")]
    window = [asks(f"I look for {name}."), says(f"I know {name}.")]
    answer = OPENS["parts"][0]["content"]
    return [
        span(f"{prefix}1", chat([RULE, *begun, *window, OPENING], answer), at=at, trace=f"{prefix}1"),
        span(f"{prefix}2", chat([RULE, *window, OPENING, OPENS, asks(last)], "Sure."), at=at + 50, trace=f"{prefix}2"),
    ]


def test_a_history_cut_at_its_beginning_goes_on_from_its_last_exchanges() -> None:
    items = trimmed("ann", "May I bring a dog?")

    (conversation,) = rebuild(items)

    users = [user for user, _ in texts(conversation)]
    assert users == ["I am ann.", "I look for ann.", "When does the museum open?", "May I bring a dog?"]
    assert share_a_key(items)


def test_exchanges_that_two_conversations_hold_join_nobody() -> None:
    one, other = trimmed("ann", "A dog?", common=True), trimmed("bob", "A parrot?", common=True, at=5)

    groups = link(read_all([*one, *other]))

    assert sorted(len(group) for group in groups) == [1, 1, 1, 1]


def test_a_single_exchange_is_too_little() -> None:
    items = [
        span("a", chat([RULE, asks("I am ann."), says("Hello ann."), OPENING], "At nine sharp, every day."), trace="a"),
        span("b", chat([RULE, OPENING, says("At nine sharp, every day."), asks("Why?")], "So."), at=50, trace="b"),
    ]

    assert len(link(read_all(items))) == 2
