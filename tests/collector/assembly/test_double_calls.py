"""One call that two instrumentations traced side by side, each with a history in messages of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, rebuild, returns, says, span
from tests.support.two_turns import ARGUMENTS, ASKED, CALL, CALLED, RESULT, RETURNED, TOLD, TOOL, shown

ITEM = "fc_00000001"


def both(at: int, one: dict[str, Any], two: dict[str, Any]) -> list[Span]:
    return [
        span(f"f{at}", one, at=at, lasts=3, parent="n", scope="framework"),
        span(f"c{at}", two, at=at + 1, lasts=1, parent="n", scope="client"),
    ]


def talk(*, model: str = "m-1") -> list[Span]:
    own, item = calls((TOOL, CALL, ARGUMENTS)), calls((TOOL, ITEM, ARGUMENTS))
    named = {"gen_ai.request.model": model}
    return [
        span("n", {"step": "x"}, lasts=40),
        *both(1, chat([asks(ASKED)], [own]), chat([asks(ASKED)], [item]) | named),
        *both(
            10,
            chat([asks(ASKED), own, returns(RESULT, CALL)], TOLD),
            chat([asks(ASKED), says("I look."), item, returns(RESULT, CALL)], TOLD) | named,
        ),
    ]


def test_a_call_and_its_twin_with_ids_of_its_own_are_one() -> None:
    (conversation,) = rebuild(talk(model="m-1-2031-01-01"))

    (turn,) = shown(conversation)
    assert [step for step in turn[1] if step[0] != "says"] == [CALLED, RETURNED]
    assert (turn[0], turn[2]) == (ASKED, TOLD)


def test_two_models_that_answered_alike_are_counted_both() -> None:
    def used(model: str) -> int:
        spans = [
            replace(each, attributes={**each.attributes, "gen_ai.usage.input_tokens": 10}) for each in talk(model=model)
        ]
        (conversation,) = rebuild(spans[3:])
        return sum(turn.input_tokens or 0 for turn in conversation.turns)

    assert used("m-1") == 10
    assert used("other") == 20
