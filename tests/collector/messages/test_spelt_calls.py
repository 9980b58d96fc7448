"""Texts that are but the JSON of a call which the same message has as a call."""

from __future__ import annotations

import json
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.operation import Part, TextPart, ToolCallPart
from tests.support.two_turns import ARGUMENTS, CALL, TOOL

CALLED = {"type": "tool_call", "id": CALL, "name": TOOL, "arguments": ARGUMENTS}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": CALL, "name": TOOL, "arguments": json.dumps(ARGUMENTS)}


def read(*parts: dict[str, Any]) -> tuple[Part, ...]:
    (message,) = MessageDecoder().read([{"role": "assistant", "parts": list(parts)}]).messages
    return message.parts


def text(content: object) -> dict[str, Any]:
    return {"type": "text", "content": content if isinstance(content, str) else json.dumps(content)}


def test_a_call_that_is_spelt_out_beside_itself_is_told_once() -> None:
    found = read(text("I look."), text(ITEM), CALLED)

    assert found == (TextPart("I look."), ToolCallPart(TOOL, ARGUMENTS, CALL))


def test_json_that_an_agent_says_beside_a_call_stays() -> None:
    said = {"name": "another", "arguments": {}}

    assert read(text(said), CALLED)[0] == TextPart(json.dumps(said))
    assert read(text({"ok": True}), CALLED)[0] == TextPart(json.dumps({"ok": True}))
    assert read(text(ITEM)) == (TextPart(json.dumps(ITEM)),)
