from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.bodies import read_request, read_response, response_id_of
from collector.messages.decoder import MessageDecoder
from collector.model import GapKind
from collector.operation import Message, Role, TextPart, ToolCallPart, ToolResultPart

HISTORY = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Bye"},
]
SAID = [(Role.USER, "Hi"), (Role.ASSISTANT, "Hello"), (Role.USER, "Bye")]


def texts(messages: tuple[Message, ...]) -> list[tuple[Role, str]]:
    return [(m.role, part.text) for m in messages for part in m.parts if isinstance(part, TextPart)]


REQUESTS = [
    pytest.param(HISTORY, id="list"),
    pytest.param({"model": "m", "messages": HISTORY, "tools": []}, id="chat"),
    pytest.param({"messages": [HISTORY]}, id="batch-of-one"),
    pytest.param({"messages": [["user", "Hi"], ["assistant", "Hello"], ["user", "Bye"]]}, id="pairs"),
    pytest.param({"request": {"input": HISTORY}}, id="under-a-name"),
    pytest.param({"args": [{"messages": HISTORY}], "kwargs": {}}, id="argument"),
    pytest.param({"args": [], "kwargs": {"state": {"messages": HISTORY}}}, id="keyword-argument"),
]


@pytest.mark.parametrize("body", REQUESTS)
@pytest.mark.parametrize("levels", [0, 1, 2])
def test_the_messages_of_a_request_wherever_they_stand(body: Any, levels: int) -> None:
    value = body
    for _ in range(levels):
        value = json.dumps(value)

    assert texts(read_request(value, MessageDecoder()).messages) == SAID


def test_what_is_beside_the_messages_is_told_apart() -> None:
    body = {"messages": HISTORY, "system": "Be brief.", "previous_response_id": "r-1"}

    found = read_request(json.dumps(body), MessageDecoder())

    assert found.system == "Be brief."
    assert found.rest == {"system": "Be brief.", "previous_response_id": "r-1"}
    assert texts(found.messages) == SAID


@pytest.mark.parametrize(
    "value", [None, "", "Hi", 7, [], {}, ["a", "b"], {"city": "Oslo"}, '{"rows": [{"id": 1}]}', "{oops"]
)
def test_a_value_of_another_shape_has_no_messages(value: Any) -> None:
    assert read_request(value, MessageDecoder()).messages == ()


RESPONSES = [
    pytest.param({"choices": [{"message": {"role": "assistant", "content": "Hello"}}, {"message": {}}]}, id="choices"),
    pytest.param({"output": {"message": {"role": "assistant", "content": [{"text": "Hello"}]}}}, id="bedrock"),
    pytest.param({"generations": [[{"message": {"type": "ai", "content": "Hello"}}]]}, id="generations"),
    pytest.param({"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}, id="message"),
    pytest.param(["Hel", "lo"], id="pieces"),
    pytest.param({"output": ["Hel", "lo"]}, id="pieces-under-a-name"),
]


@pytest.mark.parametrize("body", RESPONSES)
def test_the_answer_of_a_response(body: Any) -> None:
    assert texts(read_response(json.dumps(body), MessageDecoder()).messages) == [(Role.ASSISTANT, "Hello")]


def test_calls_streamed_in_chunks_are_put_together() -> None:
    pieces = [
        {"index": 0, "id": "call-1", "function": {"name": "locate", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"parcel": '}},
        {"index": 0, "function": {"arguments": '"P-9"}'}},
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in pieces]

    (message,) = read_response(json.dumps(chunks), MessageDecoder()).messages

    assert message.parts == (ToolCallPart("locate", {"parcel": "P-9"}, "call-1"),)


def test_a_cut_list_ends_in_a_marked_message() -> None:
    text = json.dumps({"messages": HISTORY})

    found = read_request(text[: text.index("llo")], MessageDecoder()).messages

    assert texts(found) == [(Role.USER, "Hi"), (Role.ASSISTANT, "He")]
    assert [message.gaps for message in found] == [(), (GapKind.TRUNCATED,)]


def test_a_list_before_the_cut_is_whole() -> None:
    text = json.dumps({"messages": HISTORY, "tools": [{"type": "function", "function": {"name": "locate"}}]})

    found = read_request(text[:-20], MessageDecoder())

    assert texts(found.messages) == SAID
    assert [message.gaps for message in found.messages] == [(), (), ()]
    assert found.decoded.gaps == (GapKind.TRUNCATED,)


def test_half_a_result_is_none() -> None:
    result = {"role": "tool", "tool_call_id": "call-1", "content": '{"place": "Oslo", "country": "Norway"}'}
    text = json.dumps({"messages": [*HISTORY, result]})

    last = read_request(text[: text.index("Nor")], MessageDecoder()).messages[-1]

    assert last.parts == (ToolResultPart(None, "call-1"),)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"id": "r-1", "choices": []}, "r-1"),
        ({"response_id": "r-1", "candidates": []}, "r-1"),
        ({"generations": [[{"message": {"kwargs": {"response_metadata": {"id": "r-1"}}}}]]}, "r-1"),
        ({"id": "42", "title": "Atlas"}, None),
        ({"id": 42, "choices": []}, None),
        ({}, None),
    ],
)
def test_the_id_of_a_response(body: dict[str, Any], expected: str | None) -> None:
    assert response_id_of(body) == expected
