from __future__ import annotations

import json
from typing import Any

from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import log, rebuild, span
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

FUNCTION = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}
SYSTEM = {"role": "system", "content": PROMPT}
FIRST: list[dict[str, Any]] = [SYSTEM, {"role": "user", "content": ASKED}]
SECOND: list[dict[str, Any]] = [
    *FIRST,
    {"role": "assistant", "tool_calls": [FUNCTION]},
    {"role": "tool", "id": CALL, "content": json.dumps(RESULT)},
]
THIRD: list[dict[str, Any]] = [
    *SECOND,
    {"role": "assistant", "content": TOLD},
    {"role": "user", "content": ASKED_NEXT},
]


def call(name: str, sent: list[dict[str, Any]], given: dict[str, Any], *, at: int) -> list[Span | LogRecord]:
    """A span without content, and a record a message, its name in an attribute, its body JSON text."""
    records = [
        log(f"gen_ai.{message['role']}.message", json.dumps(message), span_id=name, at=at, position=position)
        for position, message in enumerate(sent)
    ]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **given}}
    attributes = {"gen_ai.operation.name": "chat.completions", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    return [
        *records,
        log("gen_ai.choice", json.dumps(choice), span_id=name, at=at + 1),
        span(name, attributes | {"session.id": "s-1"}, at=at, name="chat.completions m", scope="semantic_kernel.x"),
    ]


def test_records_of_messages_are_one_conversation() -> None:
    (conversation,) = rebuild([
        *call("c1", FIRST, {"tool_calls": [FUNCTION]}, at=1),
        *call("c2", SECOND, {"content": TOLD}, at=5),
        *call("c3", THIRD, {"content": TOLD_NEXT}, at=9),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT


def test_the_whole_prompt_as_one_record_is_the_input() -> None:
    attributes = {"gen_ai.operation.name": "chat.completions", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    choice = {"index": 0, "message": {"role": "assistant", "content": TOLD}}

    (conversation,) = rebuild([
        span("c", attributes, name="chat.completions m"),
        log("gen_ai.prompt", json.dumps(FIRST), span_id="c"),
        log("gen_ai.choice", json.dumps(choice), span_id="c"),
    ])  # fmt: skip

    assert shown(conversation) == [(ASKED, [], TOLD)]
    assert conversation.system_instructions == PROMPT
