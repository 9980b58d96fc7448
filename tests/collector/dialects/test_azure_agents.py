from __future__ import annotations

import json
from typing import Any

from collector.model import GapKind
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

CALLS = [{"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}]


def own(operation: str, **attributes: Any) -> dict[str, Any]:
    common = {"gen_ai.operation.name": operation, "gen_ai.system": "az.ai.agents", "gen_ai.thread.id": "thread-1"}
    return common | attributes


def said(who: str, **content: Any) -> SpanEvent:
    return SpanEvent(f"gen_ai.{who}.message", T0, {"gen_ai.event.content": json.dumps(content)})


def text(value: str) -> dict[str, Any]:
    return {"text": {"value": value, "annotations": []}}


def turn(trace: str, at: int, asked: str, *, told: str, with_tool: bool) -> list[Span]:
    spans = [
        span(
            "m", own("create_message"), at=at + 1, trace=trace, parent="app",
            events=[said("user", content=asked, role="user")],
        ),
        span(
            "run", own("process_thread_run", **{"gen_ai.agent.name": "clerk"}), at=at + 2, lasts=6, trace=trace,
            parent="app",
            events=[
                said("system", content=PROMPT),
                *([said("assistant", role="assistant", tool_calls=CALLS)] if with_tool else []),
                said("assistant", role="assistant", content=text(told)),
            ],
        ),
        span("list", own("list_messages"), at=at + 9, trace=trace, parent="app", events=[said("user", content=asked)]),
        span("app", {"http.route": "/chat"}, at=at, lasts=10, trace=trace),
    ]  # fmt: skip
    if with_tool:
        spans.append(
            span(
                "sub", own("submit_tool_outputs"), at=at + 4, trace=trace, parent="run",
                events=[said("tool", content=json.dumps(RESULT), id=CALL)],
            )
        )  # fmt: skip
    return spans


def test_messages_and_runs_of_a_thread_are_its_turns() -> None:
    first = turn("a", 0, ASKED, told=TOLD, with_tool=True)
    second = turn("b", 20, ASKED_NEXT, told=TOLD_NEXT, with_tool=False)

    (conversation,) = rebuild([*first, *second])

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "thread-1"
    assert conversation.system_instructions == PROMPT
    assert [item.gaps for item in conversation.turns] == [(), ()]


def test_events_named_after_the_current_attributes_are_read() -> None:
    def event(name: str, content: Any) -> SpanEvent:
        return SpanEvent(name, T0, {"gen_ai.event.content": json.dumps(content)})

    asked = [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
    told = [{"role": "assistant", "parts": [{"type": "text", "content": TOLD}]}]
    events = [
        event("gen_ai.system.instructions", [{"type": "text", "content": PROMPT}]),
        event("gen_ai.input.messages", asked),
        event("gen_ai.output.messages", told),
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "microsoft.foundry"}

    (conversation,) = rebuild([span("c", attributes, events=events)])

    assert shown(conversation) == [(ASKED, [], TOLD)]
    assert conversation.system_instructions == PROMPT


def test_what_only_sets_up_an_agent_or_tells_the_state_of_a_run_is_no_turn() -> None:
    """A run that is polled: each request a trace of its own, and nothing said in those that ask how it goes."""
    items = [
        span(
            "agent", own("create_agent") | {"gen_ai.thread.id": ""}, trace="a", events=[said("system", content=PROMPT)]
        ),
        span("m", own("create_message"), at=5, trace="b", events=[said("user", content=ASKED, role="user")]),
        span("run", own("start_thread_run", **{"gen_ai.thread.run.status": "completed"}), at=6, trace="c"),
        span("get", own("get_thread_run", **{"gen_ai.thread.run.status": "completed"}), at=7, trace="d"),
    ]

    (conversation,) = rebuild(items)

    assert shown(conversation) == [(ASKED, [], None)]
    assert conversation.turns[0].gaps == (GapKind.OUTPUT_MISSING,)
