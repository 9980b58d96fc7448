"""The short way through a message gives what the long way gives, or leaves it to that."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.messages.shapes import messages_of
from collector.messages.usual import usual_message

TEXT = {"type": "text", "content": "hello [REDACTED]"}
CALL = {"type": "tool_call", "id": "call_12345678", "name": "find", "arguments": {"x": [1, {"y": None}]}}
RESULT = {"type": "tool_call_response", "id": "call_12345678", "response": '{"found": true}'}

values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just([]), st.just({}))
blocks = st.one_of(
    st.sampled_from(
        [TEXT, CALL, RESULT, {"type": "text", "text": "t"}, {"type": "image"}, {"text": "bare"}, "text", None]
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_call", "tool_result", "reasoning", "TEXT", 3])},
        optional={"content": values, "text": values, "arguments": values, "response": values, "name": values},
    ),
)
contents = st.one_of(
    values, st.lists(blocks, max_size=4), st.sampled_from(['[{"type": "text", "content": "in"}]', "[a]"])
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", "developer", "USER", "nobody", "", None, 3])},
    optional={
        "parts": contents,
        "content": contents,
        "finish_reason": values,
        "name": values,
        "type": values,
        "tool_calls": st.lists(st.just({"function": {"name": "f", "arguments": "{}"}}), max_size=1),
    },
)


@settings(max_examples=1500, deadline=None)
@given(messages)
def test_both_ways_give_the_same(value) -> None:
    usual = usual_message(value)

    assert usual is None or (usual,) == messages_of(value)


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "parts": [TEXT]},
        {"role": "assistant", "parts": [TEXT, CALL], "finish_reason": "tool_call"},
        {"role": "tool", "parts": [RESULT, RESULT]},
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
    ],
    ids=["parts", "call", "results", "text", "blocks"],
)
def test_the_usual_forms_take_the_short_way(value) -> None:
    assert usual_message(value) is not None
