"""Frameworks that record each span's input and output as one value, by names of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

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

SYSTEM = {"role": "system", "content": PROMPT}
ASK, NEXT = {"role": "user", "content": ASKED}, {"role": "user", "content": ASKED_NEXT}
FUNCTION = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}
USE = {"role": "assistant", "content": None, "tool_calls": [FUNCTION]}
GAVE = {"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)}
SAID, SAID_NEXT = {"role": "assistant", "content": TOLD}, {"role": "assistant", "content": TOLD_NEXT}
FIRST = [SYSTEM, ASK]
SECOND = [*FIRST, USE, GAVE]
THIRD = [*SECOND, SAID, NEXT]

Shape = Callable[[str, str, Any, Any], dict[str, Any]]
"""(kind, name, what was given, what came back) to a span's attributes."""


def mastra(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    types = {"agent": "agent_run", "model": "model_step", "tool": "tool_call"}
    own = types[kind]
    if kind == "model" and returned == [USE]:
        inner = {"toolCallId": CALL, "toolName": TOOL, "args": ARGUMENTS}
        returned = {"text": "", "toolCalls": [{"type": "tool-call", "payload": inner}]}
    elif kind in {"model", "agent"}:
        returned = {"text": returned[-1]["content"]}
    attributes = {
        "mastra.span.type": own,
        f"mastra.{own}.input": json.dumps(given),
        f"mastra.{own}.output": json.dumps(returned),
        "mastra.metadata.threadId": "s-1",
    }
    return attributes | ({"gen_ai.tool.name": name} if kind == "tool" else {})


def earlier_mastra(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    """Under plain names, a generation's request as the provider is sent it."""
    given = {"body": {"model": "m", "messages": given}} if kind == "model" else given
    now = mastra(kind, name, given, returned)
    return {key.rpartition(".")[2] if key.endswith((".input", ".output")) else key: now[key] for key in now}


def genkit(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    if kind == "model":
        given, returned = {"messages": _genkit(given), "tools": []}, {"message": _genkit(returned)[0]}
    elif kind == "agent":
        given, returned = given[-1]["content"], returned[-1]["content"]
    return {
        "genkit:type": "action",
        "genkit:metadata:subtype": {"agent": "flow"}.get(kind, kind),
        "genkit:name": name,
        "genkit:input": json.dumps(given),
        "genkit:output": json.dumps(returned),
        "genkit:sessionId": "s-1",
    }


def _genkit(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for message in messages:
        if message == USE:
            content: list[Any] = [{"toolRequest": {"ref": CALL, "name": TOOL, "input": ARGUMENTS}}]
        elif message == GAVE:
            content = [{"toolResponse": {"ref": CALL, "name": TOOL, "output": RESULT}}]
        else:
            content = [{"text": message["content"]}]
        found.append({"role": "model" if message["role"] == "assistant" else message["role"], "content": content})
    return found


def voltagent(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    keys = {"agent": "agent.messages", "model": "llm.messages", "tool": "input"}
    text = returned[-1]["content"] if kind == "agent" else returned
    attributes = {
        "span.type": {"model": "llm"}.get(kind, kind),
        keys[kind]: json.dumps(given),
        "output": text if isinstance(text, str) else json.dumps(text),
        "voltagent.conversation_id": "s-1",
    }
    return attributes | {f"{kind}.name": name}


def later_voltagent(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    found = voltagent(kind, name, given, returned)
    if kind == "agent":
        return {key: value for key, value in found.items() if key != "span.type"} | {"entity.type": "agent"}
    del found["voltagent.conversation_id"]
    return found | {"entity.type": "agent", "entity.name": "clerk", "conversation.id": "s-1"}


def laminar(kind: str, name: str, given: Any, returned: Any) -> dict[str, Any]:
    del name
    text = returned[-1]["content"] if kind == "agent" else returned
    return {
        "lmnr.span.type": {"model": "LLM", "agent": "DEFAULT", "tool": "TOOL"}[kind],
        "lmnr.span.input": json.dumps({"question": given[-1]["content"]} if kind == "agent" else given),
        "lmnr.span.output": json.dumps(text),
        "lmnr.association.properties.session_id": "s-1",
    }


def talk(shape: Shape) -> list[Span]:
    return [
        span("c1", shape("model", "m", FIRST, [USE]), at=1, parent="a1"),
        span("t", shape("tool", TOOL, ARGUMENTS, RESULT), at=3, parent="a1", name=TOOL),
        span("c2", shape("model", "m", SECOND, [SAID]), at=5, parent="a1"),
        span("a1", shape("agent", "clerk", [ASK], [SAID]), lasts=9),
        span("c3", shape("model", "m", THIRD, [SAID_NEXT]), at=21, trace="t2", parent="a2"),
        span("a2", shape("agent", "clerk", [NEXT], [SAID_NEXT]), at=20, lasts=9, trace="t2"),
    ]


@pytest.mark.parametrize("shape", [mastra, earlier_mastra, genkit, voltagent, later_voltagent, laminar])
def test_a_conversation_is_rebuilt_from_recorded_values(shape: Shape) -> None:
    (conversation,) = rebuild(talk(shape))

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


@pytest.mark.parametrize("shape", [mastra, earlier_mastra, genkit, voltagent, later_voltagent, laminar])
def test_without_spans_of_agents_the_calls_tell_the_turns(shape: Shape) -> None:
    spans = [item for item in talk(shape) if not item.name.startswith("a")]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == WHOLE


def test_logfires_requests_and_responses_are_model_calls() -> None:
    def call(name: str, sent: Any, given: Any, **where: Any) -> Span:
        data = {
            "request_data": json.dumps({"model": "m", "messages": sent}),
            "logfire.msg": "Chat",
            "session.id": "s-1",
        }
        return span(name, data | {"response_data": json.dumps(given)}, scope="logfire.openai", **where)

    streamed = {"combined_chunk_content": TOLD_NEXT, "chunk_count": 3}
    usage = {"prompt_tokens": 7, "completion_tokens": 2}

    (conversation,) = rebuild([
        call("c1", FIRST, {"message": USE, "usage": usage}, at=1),
        call("c2", SECOND, {"message": SAID, "usage": usage}, at=5),
        call("c3", THIRD, streamed, at=9),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert conversation.turns[0].input_tokens == 14
