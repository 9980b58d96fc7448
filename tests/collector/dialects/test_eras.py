"""One conversation with a tool, as each dialect and era sends it: the same steps come out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from collector.model import MessageStep, ToolCallStep, ToolResultStep
from collector.telemetry.records import LogRecord, Span, SpanEvent
from tests.support.genai_spans import T0, asks, calls, chat, log, rebuild, returns, says, span, system, tool

PROMPT = "You are a clerk."
ASKED = "Where is parcel P-9?"
ARGUMENTS = {"parcel": "P-9"}
RESULT = {"place": "Oslo"}
TOLD = "It is in Oslo."
CALL = "call-00001"

Items = Sequence[Span | LogRecord]

FIRST = [system(PROMPT), asks(ASKED)]
SECOND = [*FIRST, calls(("locate", CALL, ARGUMENTS)), returns(RESULT, CALL)]


def current_spans() -> Items:
    return [
        span("c1", chat(FIRST, [calls(("locate", CALL, ARGUMENTS))]), at=0, trace="a"),
        span("c2", chat(SECOND, TOLD), at=10, trace="b"),
    ]


def structured_values() -> Items:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    return [
        span(
            "c1",
            attributes
            | {"gen_ai.input.messages": FIRST, "gen_ai.output.messages": [calls(("locate", CALL, ARGUMENTS))]},
        ),
        span("c2", attributes | {"gen_ai.input.messages": SECOND, "gen_ai.output.messages": [says(TOLD)]}, at=10),
    ]


def details_events() -> Items:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    details = "gen_ai.client.inference.operation.details"
    one = bare | {"gen_ai.input.messages": FIRST, "gen_ai.output.messages": [calls(("locate", CALL, ARGUMENTS))]}
    two = bare | {"gen_ai.input.messages": SECOND, "gen_ai.output.messages": [says(TOLD)]}
    return [
        log(details, None, span_id="c2", at=11, attributes=two),
        span("c1", bare, at=0),
        span("c2", bare, at=10),
        log(details, None, span_id="c1", at=1, attributes=one),
    ]


def _old_events() -> list[tuple[str, int, str, dict[str, object]]]:
    wanted = [{"id": CALL, "type": "function", "function": {"name": "locate", "arguments": json.dumps(ARGUMENTS)}}]
    return [
        ("c1", 1, "gen_ai.system.message", {"content": PROMPT}),
        ("c1", 2, "gen_ai.user.message", {"content": ASKED}),
        ("c1", 3, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": wanted}}),
        ("c2", 11, "gen_ai.system.message", {"content": PROMPT}),
        ("c2", 12, "gen_ai.user.message", {"content": ASKED}),
        ("c2", 13, "gen_ai.assistant.message", {"tool_calls": wanted}),
        ("c2", 14, "gen_ai.tool.message", {"content": json.dumps(RESULT), "id": CALL}),
        ("c2", 15, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": TOLD}}),
        ("c2", 16, "gen_ai.choice", {"index": 1, "message": {"role": "assistant", "content": "another choice"}}),
    ]


def old_log_events() -> Items:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    logs = [log(name, body, span_id=own, at=at, trace=own) for own, at, name, body in _old_events()]
    return [*reversed(logs), span("c1", bare, at=0, trace="c1"), span("c2", bare, at=10, trace="c2")]


def old_span_events() -> Items:
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}

    def events(own: str) -> list[SpanEvent]:
        return [
            SpanEvent(name, T0 + at, {"gen_ai.event.content": json.dumps(body)})
            for known, at, name, body in _old_events()
            if known == own
        ]

    return [span("c1", bare, at=0, events=events("c1")), span("c2", bare, at=10, events=events("c2"))]


def openinference() -> Items:
    def message(prefix: str, index: int, **fields: str) -> dict[str, str]:
        return {f"{prefix}.{index}.message.{key}": value for key, value in fields.items()}

    asked = "llm.input_messages"
    call = {
        "tool_calls.0.tool_call.id": CALL,
        "tool_calls.0.tool_call.function.name": "locate",
        "tool_calls.0.tool_call.function.arguments": json.dumps(ARGUMENTS),
    }
    common = {"openinference.span.kind": "LLM", "session.id": "s"}
    first = message(asked, 0, role="system", content=PROMPT) | message(asked, 1, role="user", content=ASKED)
    one = common | first | message("llm.output_messages", 0, role="assistant", **call)
    two = common | first | message(asked, 2, role="assistant", **call)
    two |= message(asked, 10, role="tool", tool_call_id=CALL, content=json.dumps(RESULT))
    two |= message("llm.output_messages", 0, role="assistant", content=TOLD)
    return [
        span("c1", one, at=0, parent="r"),
        span("tool", {"openinference.span.kind": "TOOL", "tool.name": "locate", "input.value": json.dumps(ARGUMENTS),
                      "output.value": json.dumps(RESULT)}, at=5, parent="r"),
        span("c2", two, at=10, parent="r"),
        span("r", {"openinference.span.kind": "AGENT", "input.value": ASKED, "output.value": TOLD}, at=0, lasts=20),
    ]  # fmt: skip


def openinference_request_bodies() -> Items:
    wanted = [{"id": CALL, "type": "function", "function": {"name": "locate", "arguments": json.dumps(ARGUMENTS)}}]
    first = [{"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}]
    second = [*first, {"role": "assistant", "tool_calls": wanted}]
    second.append({"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)})
    common = {"openinference.span.kind": "LLM", "input.mime_type": "application/json"}

    def response(message: dict[str, object]) -> str:
        return json.dumps({"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", **message}}]})

    return [
        span(
            "c1",
            common | {"input.value": json.dumps({"messages": first}), "output.value": response({"tool_calls": wanted})},
        ),
        span(
            "c2",
            common | {"input.value": json.dumps({"messages": second}), "output.value": response({"content": TOLD})},
            at=10,
        ),
    ]


def openllmetry_flat() -> Items:
    first = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": PROMPT,
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": ASKED,
    }
    one = first | {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": CALL,
        "gen_ai.completion.0.tool_calls.0.name": "locate",
        "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(ARGUMENTS),
    }
    two = first | {
        "gen_ai.prompt.2.role": "assistant",
        "gen_ai.prompt.2.tool_calls.0.id": CALL,
        "gen_ai.prompt.2.tool_calls.0.name": "locate",
        "gen_ai.prompt.2.tool_calls.0.arguments": json.dumps(ARGUMENTS),
        "gen_ai.prompt.3.role": "tool",
        "gen_ai.prompt.3.content": json.dumps(RESULT),
        "gen_ai.prompt.3.tool_call_id": CALL,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": TOLD,
    }
    entity = {"traceloop.span.kind": "tool", "traceloop.entity.name": "locate"}
    entity |= {"traceloop.entity.input": json.dumps({"args": [], "kwargs": ARGUMENTS})}
    entity |= {"traceloop.entity.output": json.dumps(json.dumps(RESULT))}
    workflow = {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}
    workflow |= {"traceloop.entity.input": json.dumps({"args": [ASKED], "kwargs": {}})}
    workflow |= {"traceloop.entity.output": json.dumps(TOLD)}
    return [
        span("c1", one, at=1, parent="w"),
        span("t", entity, at=5, parent="w"),
        span("c2", two, at=10, parent="w"),
        span("w", workflow, lasts=20),
    ]


def openllmetry_json() -> Items:
    entity = {"traceloop.span.kind": "tool", "traceloop.entity.name": "locate", "gen_ai.tool.name": "locate"}
    entity |= {"traceloop.entity.input": json.dumps({"args": [], "kwargs": ARGUMENTS})}
    entity |= {"traceloop.entity.output": json.dumps(json.dumps(RESULT))}
    return [
        span(
            "c1",
            chat(FIRST, [calls(("locate", CALL, ARGUMENTS))]) | {"traceloop.workflow.name": "desk"},
            at=1,
            parent="w",
        ),
        span("t", entity, at=5, parent="w"),
        span("c2", chat(SECOND, TOLD) | {"traceloop.workflow.name": "desk"}, at=10, parent="w"),
        span("w", {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}, lasts=20),
    ]


def tool_spans_only() -> Items:
    return [
        span("c1", chat(FIRST, [calls(("locate", CALL, ARGUMENTS))]), at=1, parent="a"),
        span("t", tool("locate", ARGUMENTS, RESULT, call_id=CALL), at=5, parent="a"),
        span("c2", chat(FIRST, TOLD), at=10, parent="a"),
        span("a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}, lasts=20),
    ]


@pytest.mark.parametrize(
    "build",
    [
        current_spans,
        structured_values,
        details_events,
        old_log_events,
        old_span_events,
        openinference,
        openinference_request_bodies,
        openllmetry_flat,
        openllmetry_json,
        tool_spans_only,
    ],
)
def test_every_era_gives_the_same_conversation(build: Callable[[], Items]) -> None:
    (conversation,) = rebuild(build())

    (turn,) = conversation.turns
    call, result = [step for step in turn.steps if not isinstance(step, MessageStep)]
    assert conversation.system_instructions == PROMPT
    assert (turn.user_input, turn.output) == (ASKED, TOLD)
    assert isinstance(call, ToolCallStep)
    assert (call.name, call.arguments) == ("locate", ARGUMENTS)
    assert isinstance(result, ToolResultStep)
    assert (result.name, result.result, result.is_error) == ("locate", RESULT, False)
    assert turn.gaps == ()
    assert len(turn.steps) == 2


def test_a_failed_tool_keeps_its_error() -> None:
    failed = {"openinference.span.kind": "TOOL", "tool.name": "locate", "input.value": "P-9"}
    exception = SpanEvent("exception", T0, {"exception.type": "ValueError", "exception.message": "no such parcel"})
    first = chat(FIRST, [calls(("locate", None, ARGUMENTS))])

    (conversation,) = rebuild([
        span("c1", first, at=1, parent="a"),
        span("t", failed, at=5, parent="a", error=True, events=[exception]),
        span("c2", chat(FIRST, "It failed."), at=10, parent="a"),
        span("a", {"gen_ai.operation.name": "invoke_agent"}, lasts=20),
    ])  # fmt: skip

    (result,) = [step for step in conversation.turns[0].steps if isinstance(step, ToolResultStep)]
    assert (result.result, result.is_error) == ("no such parcel", True)


def test_version_1_26_prompts_are_read() -> None:
    events = [
        SpanEvent("gen_ai.content.prompt", T0, {"gen_ai.prompt": json.dumps([{"role": "user", "content": ASKED}])}),
        SpanEvent(
            "gen_ai.content.completion", T0, {"gen_ai.completion": json.dumps([{"role": "assistant", "content": TOLD}])}
        ),
    ]

    (conversation,) = rebuild([span("c", {"gen_ai.system": "openai", "gen_ai.request.model": "m"}, events=events)])

    assert (conversation.turns[0].user_input, conversation.turns[0].output) == (ASKED, TOLD)
