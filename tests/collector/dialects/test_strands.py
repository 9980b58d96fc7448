from __future__ import annotations

import json
from typing import Any

import pytest

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

SCOPE = "strands.telemetry.tracer"
DETAILS = "gen_ai.client.inference.operation.details"
USE = [{"toolUse": {"toolUseId": CALL, "name": TOOL, "input": ARGUMENTS}}]
RETURNED_BLOCKS = [{"text": json.dumps(RESULT)}]
GAVE = [{"toolResult": {"toolUseId": CALL, "status": "success", "content": RETURNED_BLOCKS}}]


def own(operation: str, **attributes: Any) -> dict[str, Any]:
    common = {"gen_ai.operation.name": operation, "gen_ai.system": "strands-agents", "session.id": "s-1"}
    return common | attributes


def happened(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name, T0, {key: v if isinstance(v, str) else json.dumps(v) for key, v in attributes.items()})


def message(role: str, content: Any) -> SpanEvent:
    return happened(f"gen_ai.{role}.message", content=content)


def legacy_tool(*, status: str = "success", result: Any = RETURNED_BLOCKS) -> Span:
    attributes = own("execute_tool", **{"gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": CALL})
    events = [
        happened("gen_ai.tool.message", role="tool", content=ARGUMENTS),
        happened("gen_ai.choice", message=result),
    ]
    return span(
        "t", attributes | {"gen_ai.tool.status": status}, at=3, parent="a1", scope=SCOPE, events=events,
        error=status == "error",
    )  # fmt: skip


def current_tool() -> Span:
    sent = [{"role": "tool", "parts": [{"type": "tool_call", "id": CALL, "name": TOOL, "arguments": ARGUMENTS}]}]
    gave = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": CALL, "response": RETURNED_BLOCKS}]}]
    attributes = own("execute_tool", **{"gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": CALL})
    events = [happened(DETAILS, **{"gen_ai.input.messages": sent, "gen_ai.output.messages": gave})]
    return span("t", attributes, at=3, parent="a1", scope=SCOPE, events=events)


def talk(tool: Span, *, with_results: bool = True, results_by: str = "tool") -> list[Span]:
    asked, then = message("user", [{"text": ASKED}]), message("user", [{"text": ASKED_NEXT}])
    history = [asked, message("assistant", USE), *([message(results_by, GAVE)] if with_results else [])]
    told, told_next = [{"text": TOLD}], [{"text": TOLD_NEXT}]
    agent = own("invoke_agent", **{"gen_ai.agent.name": "clerk", "system_prompt": PROMPT, "gen_ai.agent.tools": [TOOL]})
    return [
        span("c1", own("chat"), at=1, parent="a1", scope=SCOPE, events=[asked, happened("gen_ai.choice", message=USE)]),
        tool,
        span(
            "c2", own("chat"), at=5, parent="a1", scope=SCOPE,
            events=[*history, happened("gen_ai.choice", message=told)],
        ),
        span(
            "a1", agent, lasts=9, scope=SCOPE,
            events=[asked, happened("gen_ai.choice", message=TOLD + "\n")],
        ),
        span(
            "c3", own("chat"), at=11, trace="t2", parent="a2", scope=SCOPE,
            events=[*history, message("assistant", told), then, happened("gen_ai.choice", message=told_next)],
        ),
        span(
            "a2", agent, at=10, lasts=9, trace="t2", scope=SCOPE,
            events=[then, happened("gen_ai.choice", message=TOLD_NEXT)],
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("tool", [legacy_tool(), current_tool()], ids=["legacy", "current"])
@pytest.mark.parametrize("with_results", [True, False], ids=["replayed", "tool-span-only"])
def test_the_events_of_the_spans_are_the_conversation(tool: Span, *, with_results: bool) -> None:
    (conversation,) = rebuild(talk(tool, with_results=with_results))

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
    assert [definition.name for definition in conversation.tool_definitions] == [TOOL]
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


def test_results_that_are_told_as_a_users_message_are_results() -> None:
    (conversation,) = rebuild(talk(legacy_tool(), results_by="user"))

    assert shown(conversation) == WHOLE


def test_a_result_that_nothing_asked_for_is_what_the_user_wrote() -> None:
    written = message("user", GAVE)
    spans = [span("c", own("chat"), scope=SCOPE, events=[written, happened("gen_ai.choice", message=[{"text": TOLD}])])]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(json.dumps(GAVE), [], TOLD)]


def test_a_failed_tool_is_an_error_with_what_the_model_was_told() -> None:
    failed = legacy_tool(status="error", result=[{"text": "Error: no such parcel"}])

    (conversation,) = rebuild(talk(failed, with_results=False))

    assert shown(conversation)[0][1][-1] == ("error", TOOL, "Error: no such parcel")


def test_memory_spans_are_no_part_of_the_conversation() -> None:
    memory = own("memory", **{"memory.query": "x"})
    events = [message("user", [{"text": "extract facts"}]), happened("gen_ai.choice", message=[{"text": "none"}])]
    spans = [
        *talk(legacy_tool()),
        span("m", memory, at=4, parent="a1", name="memory.extract", scope=SCOPE, events=events),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == WHOLE
