"""Whatever is given, the answer is a conversation or the one error; and no text of it is lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import Conversation, MessageStep, ToolCallStep, ToolResultStep
from evaluators.errors import InputFormError
from evaluators.formats import FORMAT_NAMES, conversations_from
from evaluators.transcript.values import value_text
from tests.support.conversation_strategies import json_values, texts
from tests.support.input_forms import FORMS, Exchange

_KEYS = st.sampled_from([
    "turns", "messages", "input", "actual_output", "query", "response", "role", "content", "parts", "type", "text",
    "tool_calls", "tool_call", "function", "name", "arguments", "id", "tool_call_id", "tool_result", "tools_called",
    "input_parameters", "output", "retrieval_context", "llm_test_case", "choices", "message", "conversation",
    "tool_definitions", "functions", "openapi", "usage_info", "latency", "cost_info", "system", "instructions",
    "resourceSpans", "resourceLogs", "gen_ai.input.messages", "gen_ai.output.messages", "policies", "capabilities",
])  # fmt: skip
_WORDS = st.sampled_from([
    "user", "assistant", "system", "developer", "tool", "critic", "text", "tool_call", "tool_result", "function_call",
    "function_call_output", "openapi_call", "openapi_call_output", "mcp_approval_request", "mcp_approval_response",
    "image", "reasoning", "[1,", '{"a":', '[{"role":"user"}]', '{"type": "text", "text": "x"}',
])  # fmt: skip
_anything = st.recursive(
    st.one_of(_WORDS, texts, st.none(), st.booleans(), st.integers(), st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.one_of(_KEYS, texts), inner, max_size=5)),
    max_leaves=25,
)
_items = st.lists(st.dictionaries(_KEYS, _anything, max_size=6), max_size=4)
_shaped = st.dictionaries(_KEYS, st.one_of(_items, _anything), max_size=5)
_said = st.text(min_size=1, max_size=40).map(lambda text: f"w {text} w")
_exchanges = st.lists(
    st.builds(
        Exchange,
        asked=_said,
        answered=_said,
        tool=st.one_of(st.none(), st.sampled_from(["locate", "add_up"])),
        argument=_said,
        result=_said,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(st.one_of(_anything, _shaped), st.one_of(st.none(), st.sampled_from(FORMAT_NAMES)))
def test_anything_gives_a_conversation_or_the_one_error(value, name):
    try:
        found = conversations_from(value, name=name)
    except InputFormError:
        return

    assert all(isinstance(one, Conversation) for one in found)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FORMS)), _exchanges, _said)
def test_no_text_is_lost(name, exchanges, system):
    (conversation,) = conversations_from(FORMS[name](exchanges, system))

    assert conversation.system_instructions == system
    assert [turn.user_input for turn in conversation.turns] == [one.asked for one in exchanges]
    assert [turn.output for turn in conversation.turns] == [one.answered for one in exchanges]
    for turn, one in zip(conversation.turns, exchanges, strict=True):
        steps = [
            (step.name, step.arguments if isinstance(step, ToolCallStep) else step.result)
            for step in turn.steps
            if isinstance(step, ToolCallStep | ToolResultStep)
        ]
        assert steps == ([(one.tool, {"value": one.argument}), (one.tool, one.result)] if one.tool else [])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), _said), min_size=1, max_size=8))
def test_no_text_is_lost_in_any_order_of_roles(messages):
    value = [{"role": role, "content": text} for role, text in messages]

    try:
        (conversation,) = conversations_from(value)
    except InputFormError:
        assert {role for role, _ in messages} == {"system"}
        return

    assert all(text in _everything(conversation) for _, text in messages)


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_a_structured_input_is_shown_whole(value):
    (conversation,) = conversations_from({"input": {"payload": value}, "actual_output": "b"})

    assert json.loads(conversation.turns[0].user_input or "") == json.loads(json.dumps({"payload": value}))


@pytest.mark.parametrize("depth", [100, 5000, 100_000])
def test_what_is_nested_deep_is_bounded(depth):
    value: object = "x"
    for _ in range(depth):
        value = [{"content": value}]

    try:
        conversations_from({"messages": value})
    except InputFormError:
        return


def _everything(conversation: Conversation) -> str:
    found = [conversation.system_instructions or ""]
    for turn in conversation.turns:
        found += [turn.user_input or "", turn.output or ""]
        for step in turn.steps:
            if isinstance(step, MessageStep):
                found.append(step.text)
            elif isinstance(step, ToolResultStep):
                found.append(value_text(step.result))
    return "\n".join(found)
