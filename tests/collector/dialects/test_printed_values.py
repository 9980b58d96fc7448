"""Arguments and results of tools that were recorded as Python prints them."""

from __future__ import annotations

import pytest

from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, span, tool
from tests.support.two_turns import ARGUMENTS, ASKED, CALL, CALLED, RETURNED, TOLD, TOOL, shown

USE = calls((TOOL, CALL, ARGUMENTS))


def test_printed_arguments_and_a_printed_message_are_what_the_tool_was_given_and_gave() -> None:
    printed = tool(TOOL) | {
        "gen_ai.tool.call.arguments": "{'parcel': 'P-9'}",
        "gen_ai.tool.call.result": """content='{"place": "Oslo"}' name='locate' tool_call_id='call-00000001'""",
    }
    spans = [
        span("a", agent("clerk", ASKED, TOLD), lasts=20),
        span("c1", chat([asks(ASKED)], [USE]), at=1, parent="a"),
        span("t", printed, at=3, parent="a"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], TOLD)]


@pytest.mark.parametrize("text", ["content='x'", "{not printed}", "content is here: name='x'"])
def test_other_texts_stay_what_they_are(text: str) -> None:
    spans = [
        span("c1", chat([asks(ASKED)], [USE]), at=1),
        span("t", tool(TOOL, call_id=CALL) | {"gen_ai.tool.call.result": text}, at=3),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation)[0][1] == [CALLED, ("result", TOOL, text)]


def test_an_agents_step_beside_the_call_that_ran_it_is_no_turn() -> None:
    question = "Which hall is parcel P-9 in?"
    use = calls(("ask_clerk", CALL, {"input": question}))
    spans = [
        span("w", {"gen_ai.operation.name": "invoke_workflow"}, lasts=40),
        span("c1", chat([asks(ASKED)], [use]), at=1, parent="w"),
        span("t", tool("ask_clerk", {"input": question}, "In Oslo.", call_id=CALL), at=3, lasts=9, parent="w"),
        span("c2", chat([asks(question)], "In Oslo."), at=5, lasts=3, parent="t"),
        span("s", agent("model", question), at=5, lasts=3, parent="w"),
        span("c3", chat([asks(ASKED), use, returns("In Oslo.", CALL)], TOLD), at=20, parent="w"),
    ]

    (conversation,) = rebuild(spans)

    assert [(turn[0], turn[2]) for turn in shown(conversation)] == [(ASKED, TOLD)]
