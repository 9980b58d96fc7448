"""An agent that a call ran, told by the name of the call, where the tool has no span."""

from __future__ import annotations

import pytest

from collector.telemetry.records import Span
from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, span, tool
from tests.support.two_turns import ARGUMENTS, ASKED, CALL, CALLED, RESULT, RETURNED, TOLD, TOOL, shown

TASK = {"task": "Find parcel P-9."}
HELPER = "Do this: Find parcel P-9."
ASK = calls(("ask_clerk", "call-00000005", TASK))
USE = calls((TOOL, CALL, ARGUMENTS))


def talk(name: str = "ask_clerk", *more: Span) -> list[Span]:
    return [
        span("a", agent("desk", ASKED, TOLD), lasts=60),
        span("c1", chat([asks(ASKED)], [ASK]), at=1, parent="a"),
        span("b", agent(name, HELPER, "It is in Oslo."), at=5, lasts=20, parent="a"),
        span("c2", chat([asks(HELPER)], [USE]), at=6, parent="b"),
        span("t", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL), at=9, parent="b"),
        span("c3", chat([asks(HELPER), USE, returns(RESULT, CALL)], "It is in Oslo."), at=12, parent="b"),
        span("c4", chat([asks(ASKED), ASK, returns("It is in Oslo.", "call-00000005")], TOLD), at=40, parent="a"),
        *more,
    ]


def test_what_the_agent_did_is_nested_under_the_call() -> None:
    (conversation,) = rebuild(talk())

    outer = [("call", "ask_clerk", TASK), CALLED, RETURNED, ("result", "ask_clerk", "It is in Oslo.")]
    assert shown(conversation) == [(ASKED, outer, TOLD)]
    nested = [step for step in conversation.turns[0].steps if getattr(step, "parent_call_id", None)]
    assert len(nested) == 2


@pytest.mark.parametrize("name", ["clerk", "desk"])
def test_an_agent_of_another_name_is_none_of_the_call(name: str) -> None:
    (conversation,) = rebuild(talk(name))

    assert not [step for step in conversation.turns[0].steps if getattr(step, "parent_call_id", None)]
