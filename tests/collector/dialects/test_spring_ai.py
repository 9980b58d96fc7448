from __future__ import annotations

import json
from typing import Any

from collector.telemetry.records import Span, SpanEvent
from tests.support.genai_spans import T0, rebuild, span
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


def client(name: str, asked: str, told: str, **where: Any) -> Span:
    """A chat client prints names and texts in brackets."""
    named = json.dumps({"user": asked, "system": PROMPT})
    attributes = {
        "gen_ai.operation.name": "framework",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "chat_client",
        "spring.ai.chat.client.conversation.id": "s-1",
        "gen_ai.prompt": f"[{named[1:-1]}]",
        "gen_ai.completion": json.dumps([told]),
    }
    return span(name, attributes, lasts=9, **where)


def call(name: str, prompt: list[str], completion: list[str], **where: Any) -> Span:
    events = [
        SpanEvent("gen_ai.content.prompt", T0, {"gen_ai.prompt": prompt}),
        SpanEvent("gen_ai.content.completion", T0, {"gen_ai.completion": completion}),
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    return span(name, attributes | {"spring.ai.kind": "chat_model"}, events=events, **where)


def tool(**where: Any) -> Span:
    attributes = {
        "gen_ai.operation.name": "framework",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "tool_call",
        "spring.ai.tool.definition.name": TOOL,
        "spring.ai.tool.call.arguments": json.dumps(ARGUMENTS),
        "spring.ai.tool.call.result": json.dumps(RESULT),
    }
    return span("t", attributes, **where)


def test_clients_calls_and_tools_are_one_conversation() -> None:
    (conversation,) = rebuild([
        client("a1", ASKED, TOLD),
        call("c1", [PROMPT, ASKED], [TOLD], at=1, parent="a1"),
        tool(at=3, parent="c1"),
        client("a2", ASKED_NEXT, TOLD_NEXT, at=20, trace="t2"),
        call("c2", [PROMPT, ASKED, TOLD, ASKED_NEXT], [TOLD_NEXT], at=21, trace="t2", parent="a2"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT


def test_of_a_list_of_bare_texts_only_the_last_is_what_was_asked() -> None:
    (conversation,) = rebuild([call("c1", [PROMPT, ASKED], [TOLD])])

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_a_tools_call_id_is_not_made_up() -> None:
    (conversation,) = rebuild([client("a1", ASKED, TOLD), tool(at=3, parent="a1")])

    assert CALL not in str(conversation.turns[0].steps)
