"""LiveKit and Pipecat: one trace a session, turns as spans in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, returns, says, span
from tests.support.genai_spans import rebuild as rebuild_spans
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    PROMPT,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

FUNCTION = {"call_id": CALL, "name": TOOL, "arguments": json.dumps(ARGUMENTS)}
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "system", "content": [PROMPT]},
    {"type": "message", "role": "user", "content": [ASKED]},
    {"type": "function_call", **FUNCTION},
    {"type": "function_call_output", "call_id": CALL, "output": json.dumps(RESULT), "is_error": False},
    {"type": "message", "role": "assistant", "content": [TOLD]},
    {"type": "message", "role": "user", "content": [ASKED_NEXT]},
]


def livekit(prefix: str) -> list[Span]:
    def node(name: str, count: int, *, at: int, parent: str, **answer: Any) -> Span:
        given = {f"{prefix}{key}": value for key, value in answer.items()}
        context = json.dumps({"items": ITEMS[:count]})
        return span(
            name, {f"{prefix}chat_ctx": context, **given}, at=at, parent=parent, name="llm_node", scope="livekit-agents"
        )

    tool = {
        "lk.function_tool.id": CALL,
        "lk.function_tool.name": TOOL,
        f"{prefix}function_tool.arguments": json.dumps(ARGUMENTS),
        f"{prefix}function_tool.output": json.dumps(RESULT),
        "lk.function_tool.is_error": False,
    }
    turn = {"scope": "livekit-agents", "name": "agent_turn", "parent": "s"}
    return [
        node("c1", 2, at=2, parent="a1", **{"response.function_calls": json.dumps([FUNCTION])}),
        span("t", tool, at=4, parent="a1", name="function_tool", scope="livekit-agents"),
        node("c2", 4, at=6, parent="a1", **{"response.text": TOLD}),
        span("a1", {f"{prefix}user_input": ASKED}, at=1, lasts=8, **turn),
        node("c3", 6, at=12, parent="a2", **{"response.text": TOLD_NEXT}),
        span("a2", {f"{prefix}user_input": ASKED_NEXT}, at=11, lasts=8, **turn),
        span("s", {"lk.agent_name": "clerk"}, lasts=30, name="agent_session", scope="livekit-agents"),
    ]


@pytest.mark.parametrize("prefix", ["lk.", "lk.pii."])
def test_turns_of_a_livekit_session(prefix: str) -> None:
    (conversation,) = rebuild_spans(livekit(prefix))

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


def test_livekit_inputs_that_hold_only_what_is_new() -> None:
    def call(name: str, sent: list[Any], given: Any, *, at: int, base: str | None = None, **where: Any) -> Span:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "s-1",
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps([given]),
        }
        if base is not None:
            attributes |= {"lk.input.delta": True, "lk.input.base_span_id": base, "lk.input.dropped_from_base": 0}
        return span(name, attributes, at=at, name="llm_request", scope="livekit-agents", **where)

    use = calls((TOOL, CALL, ARGUMENTS))
    turn = {"scope": "livekit-agents", "name": "agent_turn", "parent": "s"}
    asked, then = {"lk.pii.user_input": ASKED}, {"lk.pii.user_input": ASKED_NEXT}

    (conversation,) = rebuild_spans([
        call("c1", [asks(ASKED)], use, at=2, parent="a1"),
        call("c2", [use, returns(RESULT, CALL)], says(TOLD), at=6, base="c1", parent="a1"),
        span("a1", asked, at=1, lasts=8, **turn),
        call("c3", [says(TOLD), asks(ASKED_NEXT)], says(TOLD_NEXT), at=12, base="c2", parent="a2"),
        span("a2", then, at=11, lasts=8, **turn),
        span("s", {}, lasts=30, name="agent_session", scope="livekit-agents"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE


def test_turns_of_a_pipecat_conversation() -> None:
    function = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}
    history: list[dict[str, Any]] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "tool_calls": [function]},
        {"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)},
        {"role": "assistant", "content": TOLD},
        {"role": "user", "content": ASKED_NEXT},
    ]

    def llm(name: str, count: int, output: str | None, *, at: int, parent: str) -> Span:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "input": json.dumps(history[:count]),
        }
        given = {"output": output} if output else {}
        return span(name, attributes | given, at=at, parent=parent, name="llm", scope="pipecat")

    def turn(name: str, number: int, *, at: int) -> Span:
        attributes = {"turn.number": number, "conversation.id": "s-1", "turn.was_interrupted": False}
        return span(name, attributes, at=at, lasts=8, parent="s", name="turn", scope="pipecat")

    (conversation,) = rebuild_spans([
        llm("c1", 2, None, at=2, parent="a1"),
        llm("c2", 4, TOLD, at=5, parent="a1"),
        turn("a1", 1, at=1),
        llm("c3", 6, TOLD_NEXT, at=12, parent="a2"),
        turn("a2", 2, at=11),
        span("s", {"conversation.id": "s-1"}, lasts=30, name="conversation", scope="pipecat"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
