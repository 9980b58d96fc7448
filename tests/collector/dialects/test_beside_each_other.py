"""Spans on which one convention says less than another, and calls that arrive as two spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.registry import read_span
from collector.messages.decoder import MessageDecoder
from collector.messages.entities import call_result
from collector.messages.reprs import decode_fields
from collector.model import ToolCallStep, TurnStatus
from collector.operation import Operation, OperationKind, Role, TextPart
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, rebuild, returns, says, span

CALL = "call-00007"


def read(item: Span) -> Operation:
    found = read_span(item, MessageDecoder())
    assert found is not None
    return found


def entity(kind: str, given: Any, returned: Any, **more: Any) -> dict[str, Any]:
    texts = {"traceloop.entity.input": given, "traceloop.entity.output": returned}
    return {"gen_ai.system": "kit", "gen_ai.request.model": "m-1", "traceloop.span.kind": kind, **texts, **more}


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        pytest.param("agent", OperationKind.AGENT, id="agent"),
        pytest.param("workflow", OperationKind.WORKFLOW, id="workflow"),
        pytest.param("tool", OperationKind.TOOL, id="tool"),
    ],
)
def test_a_stated_kind_outweighs_the_model_that_the_span_names(stated: str, kind: OperationKind) -> None:
    assert read(span("s", entity(stated, "Hi", "Hello"))).kind is kind


def test_an_agent_that_names_its_model_and_has_two_calls_is_no_call_itself() -> None:
    wanted = calls(("count", CALL, {"of": "sheep"}))
    history = [asks("How many?"), wanted, returns("9", CALL)]
    record = "status='success' result='9' error=None images=None"
    (conversation,) = rebuild(
        [
            span("top", entity("agent", "How many?", "Nine."), lasts=50),
            span("c1", chat(history[:1], [wanted]), at=1, parent="top"),
            span("t1", entity("tool", None, record, **{"gen_ai.tool.name": "count"}), at=3, parent="top"),
            span("c2", chat(history, "Nine."), at=5, parent="top"),
        ]
    )
    (turn,) = conversation.turns

    assert [(s.name, s.arguments) for s in turn.steps if isinstance(s, ToolCallStep)] == [("count", {"of": "sheep"})]
    assert turn.output == "Nine."


@pytest.mark.parametrize(
    ("record", "result", "failed"),
    [
        pytest.param("status='success' result='{\"a\": 1}' error=None files=None", {"a": 1}, False, id="gave"),
        pytest.param("status='failure' result=None error='It\\'s stuck'", "It's stuck", True, id="failed"),
        pytest.param("result=3 error=None", 3, False, id="number"),
    ],
)
def test_a_printed_record_of_a_tool_is_what_the_tool_gave_or_its_error(record: str, result: Any, failed: bool) -> None:  # noqa: FBT001
    operation = read(span("t", entity("tool", "{}", record)))

    assert operation.result == result
    assert operation.is_error is failed


@pytest.mark.parametrize(
    "text",
    ["a=1", "x=1 and y=2 are given", "status=ok result=fine", "k='v' tail", "name='x' name2=", "The sum is a=1 b=2"],
)
def test_words_that_look_a_little_like_fields_stay_words(text: str) -> None:
    assert decode_fields(text) is None or "result" not in (decode_fields(text) or {})
    assert call_result(text) == text


def logfire(record: str, messages: list[dict[str, Any]], answer: str | None) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "logfire.span_type": record,
        "request_data": json.dumps({"model": "m-1"}),
        "gen_ai.request.model": "m-1",
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(messages),
    }
    return attributes if answer is None else attributes | {"gen_ai.output.messages": json.dumps([says(answer)])}


def test_a_streamed_call_of_two_spans_is_one_call() -> None:
    first, second = [asks("Hi")], [asks("Hi"), says("Hello"), asks("Bye")]
    scope = "logfire.someprovider"
    (conversation,) = rebuild(
        [
            span("a1", logfire("span", first, None), trace="a", scope=scope),
            span("b1", logfire("log", first, "Hello"), at=5, lasts=0, trace="b", scope=scope),
            span("c1", logfire("span", second, None), at=10, trace="c", scope=scope),
            span("d1", logfire("log", second, "See you"), at=15, lasts=0, trace="d", scope=scope),
        ]
    )

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [("Hi", "Hello"), ("Bye", "See you")]


def test_a_call_that_failed_before_its_stream_began_is_told() -> None:
    failed = span("a1", logfire("span", [asks("Hi")], None), scope="logfire.someprovider", error=True)
    (conversation,) = rebuild([failed])

    assert [(turn.user_input, turn.status) for turn in conversation.turns] == [("Hi", TurnStatus.ERROR)]


def test_of_several_choices_the_first_is_the_answer() -> None:
    answers = [says("One."), says("Another.")]
    told = {"gen_ai.response.finish_reasons": ["stop", "stop"]}

    assert len(read(span("m", chat([asks("Hi")], answers))).output) == 2
    assert [message.parts for message in read(span("m", chat([asks("Hi")], answers, **told))).output] == [
        (TextPart("One."),)
    ]


def test_objects_that_are_left_out_of_a_flattened_list_are_in_the_request() -> None:
    printed = (
        "role='assistant' content=None tool_calls=[Call(function=F(name='find', arguments='{}'), id='call-00007')]"
    )
    request = {"messages": [{"role": "user", "content": "Hi"}, printed, {"role": "tool", "content": "found"}]}
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Hi",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.content": "found",
        "input.value": json.dumps(request),
    }

    chain = read(span("m", attributes)).input

    assert chain is not None
    assert [message.role for message in chain] == [Role.USER, Role.ASSISTANT, Role.TOOL]


def test_the_tasks_of_a_crew_are_what_was_asked() -> None:
    tasks = json.dumps([{"description": "Where is it?", "expected_output": "a place"}])
    crew = {"openinference.span.kind": "CHAIN", "crew_tasks": tasks, "output.value": json.dumps({"raw": "In Oslo."})}
    inner = {
        "openinference.span.kind": "AGENT",
        "graph.node.id": "clerk",
        "output.value": json.dumps({"raw": "In Oslo."}),
    }

    (conversation,) = rebuild([span("top", crew, lasts=9), span("run", inner, at=1, parent="top")])

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [("Where is it?", "In Oslo.")]


def test_an_id_that_a_function_was_given_first_is_not_what_the_user_said() -> None:
    given = json.dumps({"args": ["user-17", {"q": "Where is it?"}], "kwargs": {}})
    items = [
        span("top", entity("workflow", given, '"In Oslo."'), lasts=9),
        span("call", chat([asks("Where is it?")], "In Oslo."), at=1, parent="top"),
    ]

    (conversation,) = rebuild(items)

    assert [turn.user_input for turn in conversation.turns] == ["Where is it?"]


def test_a_result_that_was_flattened_into_the_users_words_is_read_from_the_request() -> None:
    block = {"type": "tool_result", "tool_use_id": CALL, "content": "found"}
    asked = {"type": "tool_use", "id": CALL, "name": "find", "input": {"key": "x"}}
    messages = [
        {"role": "user", "content": "Find x"},
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [block]},
    ]
    call = "llm.input_messages.1.message.tool_calls.0.tool_call.function"
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Find x",
        "llm.input_messages.1.message.role": "assistant",
        f"{call}.name": "find",
        f"{call}.arguments": json.dumps({"key": "x"}),
        "llm.input_messages.2.message.role": "user",
        "llm.input_messages.2.message.content": "found",
        "llm.invocation_parameters": json.dumps({"model": "m", "system": "Be brief."}),
        "input.value": json.dumps({"messages": messages}),
    }

    operation = read(span("m", attributes))

    assert operation.input is not None
    assert [message.role for message in operation.input] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert operation.system_instructions == "Be brief."


def test_a_call_that_only_the_reason_to_stop_tells_of_is_known_from_the_replay() -> None:
    flat = {
        "gen_ai.system": "kit",
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Find x",
    }
    first = flat | {"gen_ai.completion.0.content": "I look.", "gen_ai.completion.0.finish_reason": "tool_use"}
    asked = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": CALL, "name": "find", "input": {"key": "x"}},
    ]
    second = flat | {
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.content": json.dumps(asked),
        "gen_ai.prompt.2.role": "unknown",
        "gen_ai.prompt.2.content": "found",
        "gen_ai.completion.0.content": "Here.",
    }

    (conversation,) = rebuild([span("m1", first, trace="a"), span("m2", second, at=50, trace="b")])

    (turn,) = conversation.turns
    assert [step.kind for step in turn.steps] == ["message", "tool_call", "tool_result"]
    assert (turn.user_input, turn.output) == ("Find x", "Here.")
