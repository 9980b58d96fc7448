"""Tool calls, results, approvals and definitions, in each shape that they come in."""

from __future__ import annotations

import pytest

from collector.model import GapKind, ToolCallStep, ToolResultStep, TurnStatus
from evaluators.formats import conversation_from
from tests.support.two_turns import steps_of


def turn_of(*response, query="Do it."):
    return conversation_from({"query": query, "response": list(response)}).turns[-1]


def call(**fields):
    return {"role": "assistant", "content": [fields]}


def result(call_id, **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": [fields]}


DONE = {"role": "assistant", "content": "Done."}
CALLED = [("call", "add", {"a": 1}), ("result", "add", {"sum": 2})]


@pytest.mark.parametrize(
    ("asked", "gave"),
    [
        pytest.param(
            call(
                type="tool_call",
                tool_call={"id": "c", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}},
            ),
            result("c", type="tool_result", tool_result={"sum": 2}),
            id="nested",
        ),
        pytest.param(
            call(type="tool_call", tool_call_id="c", name="add", arguments={"a": 1}),
            result("c", type="tool_result", tool_result='{"sum": 2}'),
            id="flat",
        ),
        pytest.param(
            call(type="function_call", tool_call_id="c", name="add", arguments='{"a": 1}'),
            result("c", type="function_call_output", function_call_output={"sum": 2}),
            id="function_call",
        ),
        pytest.param(
            call(type="openapi_call", tool_call_id="c", name="add", arguments={"a": 1}),
            result("c", type="openapi_call_output", openapi_call_output={"sum": 2}),
            id="openapi_call",
        ),
        pytest.param(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"sum": 2}'},
            id="OpenAI",
        ),
        pytest.param(
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "add", "arguments": {"a": 1}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": {"sum": 2}}]},
            id="OpenTelemetry",
        ),
        pytest.param(
            call(type="tool_use", id="c", name="add", input={"a": 1}),
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": '{"sum": 2}'}]},
            id="Anthropic",
        ),
        pytest.param(
            {"type": "openapi_call", "call_id": "c", "name": "add", "arguments": '{"a": 1}'},
            {"type": "openapi_call_output", "call_id": "c", "output": '{"sum": 2}'},
            id="items",
        ),
    ],
)
def test_a_call_and_its_result(asked, gave):
    turn = turn_of(asked, gave, DONE)

    assert (steps_of(turn), turn.output, turn.gaps) == (CALLED, "Done.", ())


@pytest.mark.parametrize("wrapped", [True, False], ids=["in messages", "bare items"])
def test_an_approval_is_an_act_of_its_own(wrapped):
    asked = {
        "type": "mcp_approval_request",
        "id": "m",
        "name": "wipe",
        "arguments": '{"all": true}',
        "server_label": "disk",
    }
    said = {"type": "mcp_approval_response", "approval_request_id": "m", "approve": False}
    items = [call(**asked), {"role": "user", "content": [said]}] if wrapped else [asked, said]

    turn = turn_of(*items, DONE)

    assert steps_of(turn) == [
        ("call", "mcp_approval_request", {"name": "wipe", "arguments": {"all": True}, "server_label": "disk"}),
        ("result", "mcp_approval_request", {"approve": False}),
    ]
    assert turn.gaps == ()


def test_parallel_calls_find_their_results_in_any_order():
    asked = {"role": "assistant", "content": [
        {"type": "tool_call", "tool_call_id": one, "name": f"tool_{one}", "arguments": {}} for one in "abc"
    ]}  # fmt: skip

    turn = turn_of(asked, *(result(one, type="tool_result", tool_result=one) for one in "cab"), DONE)

    results = [(step.name, step.result) for step in turn.steps if isinstance(step, ToolResultStep)]
    assert results == [("tool_c", "c"), ("tool_a", "a"), ("tool_b", "b")]
    assert {step.group for step in turn.steps if isinstance(step, ToolCallStep)} == {0}
    assert turn.gaps == ()


def test_calls_and_results_without_their_other_half_are_marked():
    turn = turn_of(
        call(type="tool_call", tool_call_id="a", name="add", arguments={}),
        result("z", type="tool_result", tool_result="stray"),
        DONE,
    )

    assert turn.gaps == (GapKind.ORPHAN_RESULT, GapKind.TOOL_RESULT_MISSING)
    assert turn.status is TurnStatus.OK


ADD = {"type": "tool_call", "tool_call_id": "a", "name": "add", "arguments": {}}


@pytest.mark.parametrize(
    "last",
    [
        pytest.param(call(**ADD), id="call"),
        pytest.param(call(type="mcp_approval_request", id="m", name="wipe", arguments={}), id="approval"),
        pytest.param(
            {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, ADD]}, id="call with words"
        ),
    ],
)
def test_a_response_that_waits_has_not_ended(last):
    turn = turn_of(last)

    assert (turn.status, turn.output) == (TurnStatus.INCOMPLETE, None)


def test_a_result_that_comes_in_a_later_turn_still_answers():
    conversation = conversation_from(
        [
            {"role": "user", "content": "Wipe it."},
            {"type": "mcp_approval_request", "id": "m", "name": "wipe", "arguments": "{}"},
            {"role": "user", "content": "Well, yes."},
            {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
            {"role": "assistant", "content": "Wiped."},
        ]
    )

    assert [turn.gaps for turn in conversation.turns] == [(GapKind.OUTPUT_MISSING,), ()]


@pytest.mark.parametrize("arguments", ['{"a": 1', "a=1", "[1", '{"a": }'])
def test_arguments_that_are_no_json_are_kept_word_for_word(arguments):
    turn = turn_of(call(type="tool_call", tool_call_id="a", name="add", arguments=arguments))

    assert turn.steps[0].arguments == arguments


@pytest.mark.parametrize(
    "definitions",
    [
        pytest.param([{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}], id="list"),
        pytest.param({"name": "add", "description": "Adds.", "parameters": {"type": "object"}}, id="one"),
        pytest.param({"add": {"description": "Adds.", "parameters": {"type": "object"}}}, id="by name"),
        pytest.param('[{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}]', id="JSON text"),
        pytest.param(
            [
                {
                    "type": "function",
                    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}},
                }
            ],
            id="nested",
        ),
        pytest.param(
            [
                {
                    "type": "openapi",
                    "name": "sums",
                    "functions": [{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}],
                }
            ],
            id="openapi group",
        ),
        pytest.param(
            [
                {
                    "type": "openapi",
                    "openapi": {
                        "name": "sums",
                        "functions": [{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}],
                    },
                }
            ],
            id="openapi group, nested",
        ),
    ],
)
def test_tool_definitions_in_every_shape(definitions):
    (tool,) = conversation_from({"query": "a", "response": "b", "tool_definitions": definitions}).tool_definitions

    assert (tool.name, tool.description, tool.parameters) == ("add", "Adds.", {"type": "object"})


def test_tools_that_are_described_in_words_are_shown_in_these_words():
    (tool,) = conversation_from({"query": "a", "response": "b", "tool_definitions": "It can add."}).tool_definitions

    assert tool.description == "It can add."


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", ["Be kind.", [{"type": "text", "text": "Be kind."}]], ids=["text", "blocks"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_system_messages_are_taken_from_anywhere(role, content, position):
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    messages.insert(position, {"role": role, "content": content})

    conversation = conversation_from({"messages": messages})

    assert conversation.system_instructions == "Be kind."
    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [("a", "b")]


@pytest.mark.parametrize(
    ("block", "placeholder"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "[audio]"),
        ({"type": "file", "file": {"file_id": "f-1"}}, "[file]"),
        ({"type": "hologram", "data": "AAAA"}, "[hologram]"),
    ],
    ids=["image", "audio", "file", "unknown"],
)
def test_what_is_no_text_is_a_typed_placeholder(block, placeholder):
    messages = [{"role": "user", "content": [block, {"type": "text", "text": "What is it?"}]}]

    assert conversation_from(messages).turns[0].user_input == f"{placeholder}\nWhat is it?"


@pytest.mark.parametrize(
    "words",
    [
        '[{"type": "tool_result", "tool_use_id": "c1", "content": "The customer is verified."}]',
        '[{"type": "text", "text": "Hello."}, {"type": "tool_result", "tool_use_id": "c1", "content": "Yes."}]',
        '{"type": "tool_call", "name": "verify_identity", "arguments": {}}',
        '[{"type": "reasoning", "text": "Nobody shall see this."}]',
    ],
)
def test_words_that_read_like_calls_and_results_are_words(words):
    said = conversation_from([{"role": "user", "content": words}, {"role": "assistant", "content": words}])
    turns = conversation_from({"turns": [{"role": "user", "content": words}, {"role": "assistant", "content": words}]})

    for conversation in (said, turns):
        assert [(turn.user_input, turn.steps, turn.output) for turn in conversation.turns] == [(words, (), words)]
