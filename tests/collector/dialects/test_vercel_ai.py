from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import GapKind
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, rebuild, returns, says, span, tool
from tests.support.two_turns import ARGUMENTS, ASKED, ASKED_NEXT, CALL, RESULT, TOLD, TOLD_NEXT, TOOL, WHOLE, shown

SCOPE = "gen_ai"
SESSION = {"ai.settings.context.sessionId": "s-1"}
CALLED = {"type": "tool_call", "id": CALL, "name": TOOL, "arguments": ARGUMENTS}
RETURNED = {"type": "tool_call_response", "id": CALL, "response": RESULT}


def request(asked: str, parts: list[dict[str, Any]], *, reason: str = "stop") -> dict[str, Any]:
    return SESSION | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "clerk",
        "gen_ai.input.messages": json.dumps([asks(asked)]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts, "finish_reason": reason}]),
        "gen_ai.response.finish_reasons": [reason],
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "content": words}


def with_steps() -> list[Span]:
    use = calls((TOOL, CALL, ARGUMENTS))
    history = [asks(ASKED), use, returns(RESULT, CALL)]
    return [
        span("a1", request(ASKED, [text(TOLD), CALLED, RETURNED]), lasts=9, scope=SCOPE),
        span("s1", SESSION | {"gen_ai.operation.name": "agent_step"}, lasts=4, parent="a1", scope=SCOPE),
        span("c1", chat(history[:1], [use]), at=1, parent="s1", scope=SCOPE),
        span("t1", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL), at=3, parent="s1", scope=SCOPE),
        span("s2", SESSION | {"gen_ai.operation.name": "agent_step"}, at=5, lasts=3, parent="a1", scope=SCOPE),
        span("c2", chat(history, TOLD), at=6, parent="s2", scope=SCOPE),
        span("a2", request(ASKED_NEXT, [text(TOLD_NEXT)]), at=20, lasts=4, trace="t2", scope=SCOPE),
        span(
            "c3", chat([*history, says(TOLD), asks(ASKED_NEXT)], TOLD_NEXT), at=21, trace="t2", parent="a2", scope=SCOPE
        ),
    ]


def test_steps_calls_and_tools_are_the_whole_conversation() -> None:
    (conversation,) = rebuild(with_steps())

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert all(turn.gaps == () for turn in conversation.turns)


def test_requests_alone_tell_calls_before_the_text_that_follows_them() -> None:
    (conversation,) = rebuild([item for item in with_steps() if item.name in {"a1", "a2"}])

    assert shown(conversation) == WHOLE


def test_a_call_that_failed_has_no_result_and_the_text_is_still_the_answer() -> None:
    (conversation,) = rebuild([span("a1", request(ASKED, [text(TOLD), CALLED]), scope=SCOPE)])

    (turn,) = conversation.turns
    assert turn.output == TOLD
    assert turn.gaps == (GapKind.TOOL_RESULT_MISSING,)


def test_a_text_beside_a_call_that_is_still_open_is_no_answer() -> None:
    (conversation,) = rebuild([span("a1", request(ASKED, [text(TOLD), CALLED], reason="tool-calls"), scope=SCOPE)])

    assert conversation.turns[0].output is None


def test_a_call_that_the_provider_ran_is_told_with_its_result() -> None:
    spans = [
        span("a1", request(ASKED, [text(TOLD), CALLED, RETURNED]), lasts=9, scope=SCOPE),
        span("c1", chat([asks(ASKED)], [{"role": "assistant", "parts": [text(TOLD), CALLED, RETURNED]}]), at=1,
             parent="a1", scope=SCOPE),
    ]  # fmt: skip

    (conversation,) = rebuild(spans)

    assert shown(conversation) == WHOLE[:1]


def test_a_call_that_the_provider_ran_is_known_from_the_model_call_alone() -> None:
    answer = {"role": "assistant", "parts": [text(TOLD), CALLED, RETURNED]}
    finished = {"gen_ai.response.finish_reasons": ["stop"]}

    (conversation,) = rebuild([span("c1", chat([asks(ASKED)], [answer], **finished), scope=SCOPE)])

    assert shown(conversation) == WHOLE[:1]


@pytest.mark.parametrize("order", [1, -1], ids=["native-first", "legacy-first"])
def test_both_integrations_at_once_are_one_conversation(order: int) -> None:
    legacy = {"ai.telemetry.functionId": "clerk", "ai.telemetry.metadata.sessionId": "s-1"}
    use = json.dumps([{"toolCallId": CALL, "toolName": TOOL, "input": ARGUMENTS}])
    prompts = [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    twin = [
        span(
            "b1", {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"prompt": ASKED}),
                   "ai.response.text": TOLD} | legacy,
            lasts=9, trace="t9", scope="ai",
        ),
        span(
            "d1", {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(prompts),
                   "ai.response.toolCalls": use, "ai.response.id": "r-1"} | legacy,
            at=1, trace="t9", parent="b1", scope="ai",
        ),
        span(
            "u1", {"ai.operationId": "ai.toolCall", "ai.toolCall.name": TOOL, "ai.toolCall.id": CALL,
                   "ai.toolCall.args": json.dumps(ARGUMENTS), "ai.toolCall.result": json.dumps(RESULT)} | legacy,
            at=3, trace="t9", parent="b1", scope="ai",
        ),
    ]  # fmt: skip
    native = [named(item, "r-1") if item.name == "c1" else item for item in with_steps()]

    (conversation,) = rebuild([*native, *twin][::order])

    assert shown(conversation) == WHOLE


def named(item: Span, response_id: str) -> Span:
    return span(
        item.name, dict(item.attributes) | {"gen_ai.response.id": response_id}, at=1, parent="s1", scope=item.scope.name
    )
