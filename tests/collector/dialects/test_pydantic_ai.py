from __future__ import annotations

import json
from typing import Any

from collector.telemetry.records import Span
from tests.support.genai_spans import rebuild, span
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

FUNCTION = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": ARGUMENTS}}
SYSTEM = {"event.name": "gen_ai.system.message", "role": "system", "content": PROMPT}
USE = {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [FUNCTION]}
GAVE = {"event.name": "gen_ai.tool.message", "role": "tool", "id": CALL, "name": TOOL, "content": RESULT}


def said(role: str, text: str) -> dict[str, Any]:
    return {"event.name": f"gen_ai.{role}.message", "role": role, "content": text}


def choice(message: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in message.items() if key != "event.name"}
    return {"event.name": "gen_ai.choice", "index": 0, "message": inner}


FIRST = [SYSTEM, said("user", ASKED)]
SECOND = [*FIRST, USE, GAVE]
THIRD = [*SECOND, said("assistant", TOLD), said("user", ASKED_NEXT)]


def call(name: str, sent: list[Any], given: dict[str, Any], **where: Any) -> Span:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "session.id": "s-1"}
    return span(name, attributes | {"events": json.dumps([*sent, choice(given)])}, scope="pydantic-ai", **where)


def agent(name: str, events: list[Any], final: str, **where: Any) -> Span:
    attributes = {"agent_name": "clerk", "all_messages_events": json.dumps(events), "final_result": final}
    return span(name, attributes | {"session.id": "s-1"}, lasts=9, scope="pydantic-ai", **where)


def test_the_first_format_gives_the_whole_conversation() -> None:
    tool = {
        "gen_ai.tool.name": TOOL,
        "gen_ai.tool.call.id": CALL,
        "tool_arguments": json.dumps(ARGUMENTS),
        "tool_response": json.dumps(RESULT),
    }

    (conversation,) = rebuild([
        call("c1", FIRST, USE, at=1, parent="a1"),
        span("t", tool, at=3, parent="a1", scope="pydantic-ai"),
        call("c2", SECOND, said("assistant", TOLD), at=5, parent="a1"),
        agent("a1", [*SECOND, said("assistant", TOLD)], TOLD),
        call("c3", THIRD, said("assistant", TOLD_NEXT), at=21, trace="t2", parent="a2"),
        agent("a2", [*THIRD, said("assistant", TOLD_NEXT)], TOLD_NEXT, at=20, trace="t2"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert conversation.agent.name == "clerk"
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


def test_a_run_without_its_calls_still_tells_its_turn() -> None:
    (conversation,) = rebuild([agent("a1", [*SECOND, said("assistant", TOLD)], TOLD)])

    assert shown(conversation) == WHOLE[:1]
