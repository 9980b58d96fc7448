"""AG2 and CrewAI follow the semantic conventions; what is tested is what they add."""

from __future__ import annotations

import pytest

from collector.model import GapKind
from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, says, span, tool
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

USAGE = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}


def test_usage_that_comes_once_more_is_not_counted() -> None:
    use, gave = calls((TOOL, CALL, ARGUMENTS)), returns(RESULT, CALL)
    history = [asks(ASKED), use, gave, says(TOLD), asks(ASKED_NEXT)]
    llm = {"ag2.span.type": "llm", "session.id": "s-1", **USAGE}
    again = {"ag2.span.type": "usage", "gen_ai.response.model": "m", **USAGE}
    outer = {"ag2.span.type": "agent", "session.id": "s-1"}

    (conversation,) = rebuild([
        span("c1", chat([asks(ASKED)], [use], **llm), at=1, parent="a1"),
        span("u1", again, at=2, parent="a1"),
        span("t", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL) | {"ag2.span.type": "tool"}, at=3, parent="a1"),
        span("c2", chat([asks(ASKED), use, gave], TOLD, **llm), at=5, parent="a1"),
        span("a1", agent("clerk", ASKED, TOLD, **outer), lasts=9),
        span("c3", chat(history, TOLD_NEXT, **llm), at=21, trace="t2", parent="a2"),
        span("a2", agent("clerk", ASKED_NEXT, TOLD_NEXT, **outer), at=20, lasts=9, trace="t2"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert (conversation.turns[0].input_tokens, conversation.turns[0].output_tokens) == (20, 4)


@pytest.mark.parametrize(
    "mark",
    [
        {"ag2.span.type": "tool", "ag2.tool.call.result.truncated": True},
        {"crewai.tool.name": TOOL, "gen_ai.tool.call.result.truncated": True},
    ],
    ids=["ag2", "crewai"],
)
def test_a_result_that_was_cut_is_a_gap(mark: dict[str, object]) -> None:
    (conversation,) = rebuild([
        span("t", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL) | mark, at=3, parent="a1"),
        span("a1", agent("clerk", ASKED, TOLD), lasts=9),
    ])  # fmt: skip

    assert conversation.turns[0].gaps == (GapKind.TRUNCATED,)


def test_crewais_guardrails_are_no_part_of_the_conversation_and_failures_are_errors() -> None:
    failed = tool(TOOL, ARGUMENTS, call_id=CALL) | {"crewai.tool.failure.message": "no such parcel"}
    guard = chat([asks("Is this safe?")], "yes") | {"crewai.guardrail.name": "g"}

    (conversation,) = rebuild([
        span("t", failed, at=3, parent="a1"),
        span("g", guard, at=5, parent="a1", name="evaluate guardrail"),
        span("a1", agent("clerk", ASKED, TOLD) | {"crewai.agent.role": "clerk"}, lasts=9),
    ])  # fmt: skip

    assert shown(conversation) == [(ASKED, [("call", TOOL, ARGUMENTS), ("error", TOOL, "no such parcel")], TOLD)]
