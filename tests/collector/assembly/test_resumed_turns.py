"""Turns that an approval interrupts, and answers that are structured."""

from __future__ import annotations

import json

from collector.model import GapKind
from collector.telemetry.records import Span
from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, span, tool
from tests.support.two_turns import ARGUMENTS, ASKED, ASKED_NEXT, CALL, CALLED, RESULT, RETURNED, TOLD, TOOL, shown

USE = calls((TOOL, CALL, ARGUMENTS))
VALUE = {"place": "Oslo", "days": 2}
SCOPE = "pydantic-ai"


def test_a_run_that_goes_on_after_an_approval_is_the_turn_that_waited_for_it() -> None:
    waiting = json.dumps({"approvals": [{"tool_name": TOOL}]})
    spans = [
        span("a1", agent("clerk", ASKED, waiting), lasts=5, trace="t1"),
        span("c1", chat([asks(ASKED)], [USE]), at=1, trace="t1", parent="a1"),
        span("a2", agent("clerk", ASKED, TOLD), at=20, lasts=9, trace="t2"),
        span("x", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL), at=21, trace="t2", parent="a2"),
        span("c2", chat([asks(ASKED), USE, returns(RESULT, CALL)], TOLD), at=23, trace="t2", parent="a2"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], TOLD)]


def run(final: str) -> Span:
    attributes = {"agent_name": "clerk", "gen_ai.operation.name": "invoke_agent", "final_result": final}
    return span("a", attributes, lasts=20, scope=SCOPE)


def test_a_call_with_the_answer_for_arguments_is_the_answer() -> None:
    final = json.dumps(VALUE, separators=(",", ":"))
    ends = calls(("Answer", "call-00000002", VALUE))
    spans = [
        run(final),
        span("c1", chat([asks(ASKED)], [USE]), at=1, parent="a", scope=SCOPE),
        span("c2", chat([asks(ASKED), USE, returns(RESULT, CALL)], [ends]), at=5, parent="a", scope=SCOPE),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], final)]
    assert conversation.turns[0].gaps == ()


def test_a_structured_answer_is_what_the_model_wrote_and_told_once() -> None:
    written = json.dumps(VALUE, indent=1)
    spans = [run(json.dumps(VALUE)), span("c1", chat([asks(ASKED)], written), at=1, parent="a", scope=SCOPE)]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], written)]


def test_a_root_that_another_conversation_has_is_not_missing() -> None:
    first, second = {"gen_ai.conversation.id": "k-1"}, {"gen_ai.conversation.id": "k-2"}
    spans = [
        span("r", {"http.route": "/chat"}, lasts=30),
        span("a1", agent("clerk", ASKED, TOLD, **first), at=1, parent="r"),
        span("a2", agent("clerk", ASKED_NEXT, "On Friday.", **second), at=9, parent="r"),
    ]

    found = rebuild(spans)

    assert [conversation.conversation_id for conversation in found] == ["k-1", "k-2"]
    assert all(GapKind.SPANS_MISSING not in turn.gaps for conversation in found for turn in conversation.turns)


def test_a_call_that_carries_the_answer_is_the_answer_whatever_it_gives_back() -> None:
    ends = calls(("final_answer", "call-00000003", {"response": TOLD}))
    spans = [
        span("a", agent("clerk", ASKED, TOLD), lasts=20),
        span("c1", chat([asks(ASKED)], [ends]), at=1, parent="a"),
        span("t", tool("final_answer", {"response": TOLD}, "Message has been sent"), at=3, parent="a"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_a_handoff_that_names_the_agent_in_its_arguments_is_told_as_one() -> None:
    hands = calls(("handoff", CALL, {"to_agent": "porter", "reason": "parcels"}))
    spans = [
        span("a", agent("clerk", ASKED, TOLD), lasts=20),
        span("c1", chat([asks(ASKED)], [hands]), at=1, parent="a"),
        span("c2", chat([asks(ASKED), hands, returns("Now it is the porter.", CALL)], TOLD), at=5, parent="a"),
    ]

    (conversation,) = rebuild(spans)

    assert ("handoff", "porter") in shown(conversation)[0][1]
