from __future__ import annotations

from typing import Any

import pytest

from collector.model import GapKind
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, rebuild, says, span
from tests.support.two_turns import ASKED, ASKED_NEXT, TOLD, TOLD_NEXT, shown

NAMED = {"gen_ai.conversation.id": "s-1"}
INPUT = "gen_ai.input.messages"
FIRST = chat([asks(ASKED)], TOLD, **NAMED)
SECOND = chat([asks(ASKED), says(TOLD), asks(ASKED_NEXT)], TOLD_NEXT, **NAMED)


def cut(attributes: dict[str, Any], before: str) -> dict[str, Any]:
    return attributes | {INPUT: attributes[INPUT][: attributes[INPUT].index(before) + 3]}


def spans(second: dict[str, Any]) -> list[Span]:
    return [span("c1", FIRST), span("c2", second, at=9, trace="t2")]


@pytest.mark.parametrize("before", [ASKED, TOLD], ids=["in-the-first-words", "in-the-first-answer"])
def test_a_call_whose_latest_words_were_cut_away_has_none_of_an_earlier_turn(before: str) -> None:
    (conversation,) = rebuild(spans(cut(SECOND, before)))

    assert shown(conversation) == [(ASKED, [], TOLD), (None, [], TOLD_NEXT)]
    assert set(conversation.turns[1].gaps) == {GapKind.TRUNCATED, GapKind.USER_INPUT_MISSING}


@pytest.mark.parametrize("before", [ASKED, TOLD], ids=["in-the-first-words", "in-the-first-answer"])
def test_an_agent_whose_latest_words_were_cut_away_has_none_of_an_earlier_turn(before: str) -> None:
    request = {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": SECOND["gen_ai.output.messages"]}

    (conversation,) = rebuild(spans(cut(request | NAMED | {INPUT: SECOND[INPUT]}, before)))

    assert shown(conversation) == [(ASKED, [], TOLD), (None, [], TOLD_NEXT)]


def test_the_first_words_that_were_cut_are_kept_and_marked() -> None:
    (conversation,) = rebuild([span("c1", cut(FIRST, ASKED))])

    assert shown(conversation) == [(ASKED[:3], [], TOLD)]
    assert conversation.turns[0].gaps == (GapKind.TRUNCATED,)


def test_words_that_were_cut_themselves_are_kept_and_marked() -> None:
    (conversation,) = rebuild(spans(cut(SECOND, ASKED_NEXT)))

    assert shown(conversation)[0] == (ASKED, [], TOLD)
    assert conversation.turns[1].output == TOLD_NEXT
    assert GapKind.TRUNCATED in conversation.turns[1].gaps


def test_a_list_whose_last_text_bears_a_mark_of_its_own_is_whole() -> None:
    marked = f"{ASKED_NEXT} [TRUNCATED]"
    second = chat([asks(ASKED), says(TOLD), asks(marked)], TOLD_NEXT, **NAMED)

    (conversation,) = rebuild(spans(second))

    assert shown(conversation) == [(ASKED, [], TOLD), (marked, [], TOLD_NEXT)]
    assert conversation.turns[1].gaps == (GapKind.TRUNCATED,)


def test_an_agents_cut_words_are_not_taken_where_its_call_tells_them() -> None:
    request = cut({"gen_ai.operation.name": "invoke_agent", INPUT: SECOND[INPUT]} | NAMED, TOLD)
    items = [
        span("c1", FIRST),
        span("a2", request, at=9, lasts=9, trace="t2"),
        span("c2", SECOND, at=10, trace="t2", parent="a2"),
    ]

    (conversation,) = rebuild(items)

    assert shown(conversation) == [(ASKED, [], TOLD), (ASKED_NEXT, [], TOLD_NEXT)]
