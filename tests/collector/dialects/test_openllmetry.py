"""Habits of OpenLLMetry that cost a conversation something if they are taken at their word."""

from __future__ import annotations

import json

import pytest

from collector.model import GapKind
from tests.support.flat_spans import ENDS, FIRST, RETURNED, THEN, flat_calls, flattened
from tests.support.genai_spans import rebuild_one, span
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    PROMPT,
    RESULT,
    TOLD,
    TOOL,
    WHOLE,
    shown,
)


def test_the_bodies_of_an_endpoint_whose_interface_is_not_known_are_read_as_they_were_sent() -> None:
    request = {"messages": FIRST, "tools": [{"type": "function", "function": {"name": TOOL}}]}
    response = {"choices": [{"message": {"role": "assistant", "content": TOLD}}]}
    sent = {"gen_ai.request.model": "m-1", "traceloop.entity.input": json.dumps(request)}

    conversation = rebuild_one([span("c1", sent | {"traceloop.entity.output": json.dumps(response)})])

    assert shown(conversation) == [(ASKED, [], TOLD)]
    assert conversation.system_instructions == PROMPT
    assert [tool.name for tool in conversation.tool_definitions] == [TOOL]


def test_the_pieces_of_a_generated_text_that_were_recorded_as_an_answer_each_are_one() -> None:
    texts = {f"gen_ai.completion.{i}.content": text for i, text in enumerate(("Parcel", " P-9 is", " in Oslo."))}
    asked = {"llm.request.type": "completion", "gen_ai.request.model": "m-1", "gen_ai.prompt.0.user": ASKED}

    conversation = rebuild_one([span("c1", asked | texts, scope="opentelemetry.instrumentation.replicate")])

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_a_prompt_by_the_name_of_who_says_it_stands_beside_a_role_as_well() -> None:
    named = [
        {"role": "USER", "content": ASKED},
        {"role": "CHATBOT", "content": TOLD},
        {"role": "user", "user": ASKED_NEXT},
    ]

    assert shown(rebuild_one([span("c1", flattened(named, ENDS))])) == [(ASKED, [], TOLD), WHOLE[1]]


def test_a_printed_message_is_not_what_the_user_said() -> None:
    printed = 'role: "user"\nparts {\n  text: "Hi"\n}\n'

    conversation = rebuild_one([span("c1", flattened([{"user": printed}], THEN))])

    assert shown(conversation) == [(None, [], TOLD)]
    assert GapKind.USER_INPUT_MISSING in conversation.turns[0].gaps


def test_an_answer_that_was_written_as_null_is_an_empty_one() -> None:
    """Its calls are those of the call before; the model did not say "null"."""
    items = [
        span("c1", flattened(FIRST, {"role": "assistant", "content": ""} | flat_calls()), trace="a"),
        span("c2", flattened([*FIRST, {"role": "assistant", "content": "null"}, RETURNED], THEN), trace="b", at=10),
    ]

    assert shown(rebuild_one(items)) == WHOLE[:1]


def test_results_that_come_as_empty_texts_of_the_user_are_no_turns() -> None:
    silent = {"role": "model", "content": ""}
    unrecorded = {"role": "user", "content": ""}
    replay = [*FIRST, silent, unrecorded]
    scope = "@traceloop/instrumentation-vertexai"

    conversation = rebuild_one([
        span("c1", flattened(FIRST, silent), trace="a", scope=scope),
        span("c2", flattened(replay, {"role": "model", "content": TOLD}), trace="b", at=10, scope=scope),
    ])  # fmt: skip

    assert shown(conversation) == [(ASKED, [], TOLD)]


def typed(text: str, **more: str) -> dict[str, str]:
    message = {"role": "user", "parts": [{"type": "text", "content": text}]}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": TOLD}]}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([message]),
        "gen_ai.output.messages": json.dumps([answer]),
    } | {key.replace("__", "."): value for key, value in more.items()}


ITEMS = [
    {"role": "user", "content": ASKED},
    {"type": "function_call", "call_id": CALL, "name": TOOL, "arguments": json.dumps(ARGUMENTS)},
    {"type": "function_call_output", "call_id": CALL, "output": json.dumps(RESULT)},
]


@pytest.mark.parametrize("identity", [{"gen_ai__response__id": "resp_1"}, {}], ids=["whole", "streamed"])
def test_a_list_of_items_that_was_recorded_as_a_users_text_is_that_list(identity: dict[str, str]) -> None:
    item = span("c1", typed(json.dumps(ITEMS), **identity), scope="@traceloop/instrumentation-openai")

    assert shown(rebuild_one([item])) == WHOLE[:1]


@pytest.mark.parametrize(
    ("scope", "identity"),
    [("@traceloop/instrumentation-openai", "chatcmpl-1"), ("opentelemetry.instrumentation.openai.v1", "resp_1")],
    ids=["another-interface", "another-instrumentation"],
)
def test_a_list_of_items_that_a_user_wrote_stays_the_users_text(scope: str, identity: str) -> None:
    written = json.dumps(ITEMS)

    conversation = rebuild_one([span("c1", typed(written, gen_ai__response__id=identity), scope=scope)])

    assert shown(conversation) == [(written, [], TOLD)]


BEDROCK = "opentelemetry.instrumentation.bedrock"


def test_contents_that_were_all_written_to_the_first_messages_place_are_the_last_ones() -> None:
    """Of the whole list the roles are left; a result's id says which call it goes on from."""
    result = {"type": "tool_result", "tool_use_id": CALL, "content": json.dumps(RESULT)}
    call = [{"type": "tool_use", "id": CALL, "name": TOOL, "input": ARGUMENTS}]
    latest = [{"role": "user", "content": json.dumps([result])}, {"role": "assistant"}, {"role": "user"}]
    items = [
        span("c1", flattened([{"role": "user", "content": json.dumps(ASKED)}], {"content": json.dumps(call)}),
             trace="a", scope=BEDROCK),
        span("c2", flattened(latest, {"content": json.dumps([{"type": "text", "text": TOLD}])}),
             trace="b", at=10, scope=BEDROCK),
    ]  # fmt: skip

    assert shown(rebuild_one(items)) == WHOLE[:1]


def test_a_streamed_call_that_nobody_repeats_has_the_arguments_that_its_tool_was_given() -> None:
    begun = {"role": "assistant", "tool_calls.0.id": CALL, "tool_calls.0.name": TOOL, "tool_calls.0.arguments": "{}"}
    tool = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": TOOL,
        "traceloop.entity.input": json.dumps({"args": [], "kwargs": ARGUMENTS}),
        "traceloop.entity.output": json.dumps(RESULT),
    }
    items = [
        span("w", {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}, lasts=40),
        span("c1", flattened(FIRST, begun), at=1, lasts=5, parent="w"),
        span("x", tool, at=7, lasts=2, parent="w"),
    ]

    assert shown(rebuild_one(items)) == [(ASKED, WHOLE[0][1], None)]


def test_a_tool_that_goes_by_its_class_has_its_name_and_its_call_from_the_message_it_gave() -> None:
    """In JavaScript a tool is a task, and its span is called after LangChain's class."""
    message = {"content": json.dumps(RESULT), "name": TOOL, "tool_call_id": CALL, "status": "success"}
    given = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"], "kwargs": message}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "DynamicStructuredTool",
        "traceloop.entity.input": json.dumps({"args": [json.dumps(ARGUMENTS)]}),
        "traceloop.entity.output": json.dumps(given),
    }
    items = [
        span("w", {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}, lasts=40),
        span("c1", flattened(FIRST, {"role": "assistant", "content": ""}), at=1, lasts=5, parent="w"),
        span("x", tool, at=7, lasts=2, parent="w"),
        span(
            "c2", flattened([*FIRST, {"role": "assistant", "content": ""}, RETURNED], THEN), at=10, lasts=5, parent="w"
        ),
    ]

    assert shown(rebuild_one(items)) == WHOLE[:1]
