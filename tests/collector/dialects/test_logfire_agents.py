"""Logfire's spans of the OpenAI Agents SDK, with its own names."""

from __future__ import annotations

import json
from typing import Any

from collector.telemetry.records import Span
from tests.support.genai_spans import rebuild, span

SCOPE = "logfire.openai_agents"
CALL = {"type": "function_call", "call_id": "call-00001", "name": "look_up", "arguments": '{"key": "x"}'}
RESULT = {"type": "function_call_output", "call_id": "call-00001", "output": "found x"}
TOOL = {"type": "function", "name": "look_up", "description": "d", "parameters": {"type": "object"}}


def part(
    span_id: str, template: str, at: int, parent: str = "", trace: str = "t1", lasts: int = 1, **more: Any
) -> Span:
    attributes = {"logfire.msg_template": template, "logfire.msg": template, "gen_ai.system": "openai", **more}
    return span(span_id, attributes, at=at, lasts=lasts, parent=parent, trace=trace, scope=SCOPE)


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def responses(name: str, at: int, sent: list[Any], given: list[Any], trace: str = "t1") -> Span:
    body = {"id": f"resp-{name}", "object": "response", "instructions": "Be brief.", "tools": [TOOL], "output": given}
    events = [{"event.name": "gen_ai.user.message", "role": "user", "content": "other words"}]
    return part(
        name,
        "Responses API with {gen_ai.request.model!r}",
        at,
        "run" if trace == "t1" else "",
        trace,
        **{
            "gen_ai.operation.name": "chat",
            "raw_input": json.dumps(sent),
            "response": json.dumps(body),
            "events": json.dumps(events),
        },
    )


def test_a_run_with_a_tool_and_a_guardrail() -> None:
    asked = {"role": "user", "content": "Find x"}
    items = [
        part("top", "OpenAI Agents trace: {name}", 0, lasts=90, group_id="group-7"),
        part("run", "Agent run: {name!r}", 1, "top", lasts=80, name="clerk"),
        part("guard", "Guardrail {name!r} {triggered=}", 2, "run", lasts=8, name="g"),
        part(
            "judge", "Chat completion with {m}", 3, "guard", input=json.dumps([asked]), output='[{"content": "safe"}]'
        ),
        responses("m1", 10, [asked], [CALL]),
        part("tool", "Function: {name}", 20, "run", name="look_up", input='{"key": "x"}', output="found x"),
        responses("m2", 30, [asked, CALL, RESULT], [said("Here is x.")]),
    ]

    (conversation,) = rebuild(items)

    (turn,) = conversation.turns
    assert (conversation.conversation_id, conversation.system_instructions) == ("group-7", "Be brief.")
    assert [tool.name for tool in conversation.tool_definitions] == ["look_up"]
    assert (turn.user_input, turn.output, turn.agent) == ("Find x", "Here is x.", "clerk")
    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]
    assert turn.gaps == ()


def test_chat_messages_are_read_without_the_answer_among_them() -> None:
    sent = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    answer = {"role": "assistant", "content": "Hello."}
    call = part(
        "m1",
        "Chat completion with {gen_ai.request.model!r}",
        0,
        input=json.dumps(sent),
        output=json.dumps([answer]),
        request_data=json.dumps({"messages": [*sent, answer], "model": "m"}),
    )

    (conversation,) = rebuild([call])

    (turn,) = conversation.turns
    assert (turn.user_input, turn.steps, turn.output) == ("Hi", (), "Hello.")
