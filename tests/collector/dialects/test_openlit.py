from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from collector.model import ToolCallStep, ToolResultStep
from collector.telemetry.records import Resource, Span, SpanEvent
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

FUNCTION = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}
FIRST = f"system: {PROMPT}\nuser: {ASKED}"
SECOND = FIRST + f"\nassistant: \ntool: {json.dumps(RESULT)}"


def own(name: str, attributes: dict[str, Any], **where: Any) -> Span:
    found = span(name, attributes | {"session.id": "s-1"}, scope="openlit.otel.tracing", **where)
    return replace(found, resource=Resource({"service.name": "shop", "telemetry.sdk.name": "openlit"}))


def call(name: str, prompt: str, completion: str, **where: Any) -> Span:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    calls = {} if completion else {"gen_ai.response.tool_calls": json.dumps([FUNCTION])}
    events = [
        SpanEvent("gen_ai.content.prompt", T0, {"gen_ai.prompt": prompt}),
        SpanEvent("gen_ai.content.completion", T0, {"gen_ai.completion": completion}),
    ]
    return own(name, attributes | calls, events=events, **where)


def test_prompts_of_one_text_are_messages() -> None:
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": TOOL,
        "gen_ai.tool.call.id": CALL,
        "gen_ai.tool.input": json.dumps(ARGUMENTS),
        "gen_ai.tool.output": json.dumps(RESULT),
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.role": "clerk", "openlit.agent.version_hash": "v7"}

    (conversation,) = rebuild([
        call("c1", FIRST, "", at=1, parent="a1"),
        own("t", tool, at=3, parent="a1"),
        call("c2", SECOND, TOLD, at=5, parent="a1"),
        own("a1", agent, lasts=9),
        call("c3", f"{SECOND}\nassistant: {TOLD}\nuser: {ASKED_NEXT}", TOLD_NEXT, at=21, trace="t2", parent="a2"),
        own("a2", agent, at=20, lasts=9, trace="t2"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert (conversation.agent.name, conversation.agent.version) == ("clerk", "v7")


def test_a_line_that_names_a_role_later_on_stays_text() -> None:
    (conversation,) = rebuild([call("c", "user: Translate: the user: said no", "Done.")])

    assert conversation.turns[0].user_input == "Translate: the user: said no"


def test_workflows_say_what_was_asked() -> None:
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.input": json.dumps({"question": ASKED}),
        "gen_ai.workflow.output": json.dumps({"answer": TOLD}),
    }

    (conversation,) = rebuild([own("w", attributes)])

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_calls_joined_by_commas_and_a_list_printed_within_the_prompt_are_read() -> None:
    wanted = [("call-00001", "count", '{"of": "sheep, goats"}'), ("call-00002", "count", '{"of": "cows"}')]
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in wanted]
    history = [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": None, "tool_calls": listed},
        {"role": "tool", "tool_call_id": "call-00002", "content": "3"},
        {"role": "tool", "tool_call_id": "call-00001", "content": "[9, 4]"},
    ]
    joined = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.tool.name": "count, count",
        "gen_ai.tool.call.id": "call-00001, call-00002",
        "gen_ai.tool.args": ", ".join(arguments for _, _, arguments in wanted),
    }
    asked = [SpanEvent("gen_ai.content.prompt", T0, {"gen_ai.prompt": "user: How many?"})]
    (conversation,) = rebuild(
        [
            own("c1", joined, events=asked, trace="a"),
            call("c2", f"user: How many?\nuser: {history!r}\ntool: 3\ntool: [9, 4]", "Sixteen.", at=9, trace="b"),
        ]
    )
    (turn,) = conversation.turns

    assert [(s.call_id, s.arguments) for s in turn.steps if isinstance(s, ToolCallStep)] == [
        ("call-00001", {"of": "sheep, goats"}),
        ("call-00002", {"of": "cows"}),
    ]
    assert {s.call_id: s.result for s in turn.steps if isinstance(s, ToolResultStep)} == {
        "call-00001": [9, 4],
        "call-00002": "3",
    }
    assert (turn.user_input, turn.output) == ("How many?", "Sixteen.")


def test_what_stands_in_place_of_an_answer_is_none_and_the_next_call_goes_on_all_the_same() -> None:
    placeholder = "Function called with tools"
    (conversation,) = rebuild(
        [
            call("c1", "user: Hello", placeholder, trace="a"),
            call("c2", "user: Hello\nassistant: Good day.\nuser: Open?", placeholder, at=9, trace="b"),
            call(
                "c3",
                "user: Hello\nassistant: Good day.\nuser: Open?\nassistant: None\ntool: yes",
                "We are.",
                at=20,
                trace="c",
            ),
        ]
    )

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [
        ("Hello", "Good day."),
        ("Open?", "We are."),
    ]
