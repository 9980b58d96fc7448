from __future__ import annotations

from typing import Any

import pytest

from collector.messages.shapes import messages_of
from collector.model import GapKind
from collector.operation import (
    CompactionPart,
    MediaPart,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

CALL = ToolCallPart("lookup", {"id": 7}, "call-12345")
RESULT = ToolResultPart({"ok": True}, "call-12345")

CALLS: list[Any] = [
    pytest.param(
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call-12345", "name": "lookup", "arguments": {"id": 7}}],
        },
        id="semantic-conventions",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call-12345", "type": "function", "function": {"name": "lookup", "arguments": '{"id": 7}'}}
            ],
        },
        id="openai-chat",
    ),
    pytest.param(
        {"type": "function_call", "call_id": "call-12345", "id": "fc-1", "name": "lookup", "arguments": '{"id": 7}'},
        id="openai-responses",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call-12345", "name": "lookup", "input": {"id": 7}}],
        },
        id="anthropic",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "call-12345", "name": "lookup", "input": {"id": 7}}}],
        },
        id="bedrock",
    ),
    pytest.param(
        {"role": "model", "parts": [{"functionCall": {"id": "call-12345", "name": "lookup", "args": {"id": 7}}}]},
        id="gemini",
    ),
    pytest.param(
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": "", "tool_calls": [{"name": "lookup", "args": {"id": 7}, "id": "call-12345"}]},
        },
        id="langchain-serialised",
    ),
    pytest.param(
        {"type": "ai", "content": "", "tool_calls": [{"name": "lookup", "args": {"id": 7}, "id": "call-12345"}]},
        id="langchain-dumped",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "call-12345", "toolName": "lookup", "input": '{"id": 7}'}],
        },
        id="vercel",
    ),
    pytest.param(
        {
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {"tool_call": {"id": "call-12345", "function": {"name": "lookup", "arguments": '{"id": 7}'}}}
                ],
            }
        },
        id="openinference",
    ),
    pytest.param(
        "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, "
        "_content=[ToolCall(tool_name='lookup', arguments={'id': 7}, id='call-12345', extra=None)], _name=None)",
        id="printed",
    ),
]

RESULTS: list[Any] = [
    pytest.param(
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call-12345", "response": '{"ok": true}'}]},
        id="semantic-conventions",
    ),
    pytest.param(
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "call-12345", "result": {"ok": True}}]},
        id="semantic-conventions-in-a-user-message",
    ),
    pytest.param({"role": "tool", "tool_call_id": "call-12345", "content": '{"ok": true}'}, id="openai-chat"),
    pytest.param(
        {"type": "function_call_output", "call_id": "call-12345", "output": '{"ok": true}'}, id="openai-responses"
    ),
    pytest.param(
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call-12345",
                    "content": [{"type": "text", "text": '{"ok": true}'}],
                }
            ],
        },
        id="anthropic",
    ),
    pytest.param(
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "call-12345", "content": [{"text": '{"ok": true}'}]}}],
        },
        id="bedrock",
    ),
    pytest.param(
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call-12345",
                    "output": {"type": "json", "value": {"ok": True}},
                }
            ],
        },
        id="vercel",
    ),
    pytest.param({"type": "tool", "tool_call_id": "call-12345", "content": '{"ok": true}'}, id="langchain"),
]


@pytest.mark.parametrize("value", CALLS)
def test_a_call_is_the_same_in_every_shape(value: object) -> None:
    (message,) = messages_of(value, default=Role.ASSISTANT)

    assert message.role is Role.ASSISTANT
    assert [part for part in message.parts if isinstance(part, ToolCallPart)] == [CALL]


@pytest.mark.parametrize("value", RESULTS)
def test_a_result_is_the_same_in_every_shape_and_never_user_input(value: object) -> None:
    (message,) = messages_of(value)

    assert message.role is Role.TOOL
    assert message.parts == (RESULT,)


def test_every_shape_of_a_call_has_one_digest() -> None:
    digests = {messages_of(param.values[0], default=Role.ASSISTANT)[0].digest for param in CALLS}

    assert len(digests) == 1


def test_words_beside_a_result_in_a_user_message_are_user_input() -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "call-12345", "content": "done"},
        {"type": "text", "text": "Stop!"},
    ]

    results, said = messages_of({"role": "user", "content": content})

    assert (results.role, said.role) == (Role.TOOL, Role.USER)
    assert said.parts == (TextPart("Stop!"),)


def test_a_text_that_is_json_stays_a_text() -> None:
    (message,) = messages_of({"role": "user", "content": '[{"city": "Oslo"}]'})

    assert message.parts == (TextPart('[{"city": "Oslo"}]'),)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param({"type": "reasoning", "content": "hm"}, ReasoningPart("hm"), id="reasoning"),
        pytest.param({"type": "thinking", "thinking": "hm"}, ReasoningPart("hm"), id="thinking"),
        pytest.param(
            {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="},
            MediaPart("image", "image/png"),
            id="blob-without-its-bytes",
        ),
        pytest.param(
            {"type": "uri", "modality": "video", "uri": "https://example.org/v"},
            MediaPart("video", None, "https://example.org/v"),
            id="uri",
        ),
        pytest.param(
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, MediaPart("image"), id="data-url"
        ),
        pytest.param({"type": "compaction", "content": "summary"}, CompactionPart("summary"), id="compaction"),
    ],
)
def test_other_parts_are_typed(part: dict[str, Any], expected: object) -> None:
    (message,) = messages_of({"role": "assistant", "parts": [part]})

    assert message.parts == (expected,)


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        pytest.param("__REDACTED__", GapKind.REDACTED, id="openinference"),
        pytest.param("my card is [REDACTED]", GapKind.REDACTED, id="inside"),
        pytest.param("a long text ...[TRUNCATED]", GapKind.TRUNCATED, id="truncated"),
    ],
)
def test_placeholders_are_gaps(text: str, gap: GapKind) -> None:
    (message,) = messages_of({"role": "user", "content": text})

    assert message.gaps == (gap,)


def test_talk_about_redaction_is_no_gap() -> None:
    (message,) = messages_of({"role": "user", "content": "Was anything redacted or truncated here?"})

    assert message.gaps == ()


def test_nesting_without_end_is_bounded() -> None:
    value: Any = {"role": "user", "content": "x"}
    for _ in range(900):
        value = {"message": value}
    content: Any = "x"
    for _ in range(900):
        content = [content]

    assert len(messages_of(value)) <= 1
    assert len(messages_of({"role": "user", "content": content})) == 1


NESTED = {"id": "c", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
ASKED = {"name": "wipe", "arguments": {"all": True}}


@pytest.mark.parametrize(
    ("message", "role", "part"),
    [
        pytest.param(
            {"role": "assistant", "content": [{"type": "tool_call", "tool_call": NESTED}]},
            Role.ASSISTANT,
            ToolCallPart("add", {"a": 1}, "c"),
            id="a call within a block",
        ),
        pytest.param(
            {"role": "assistant", "content": [{"type": "openapi_call", "tool_call_id": "c", "name": "add"}]},
            Role.ASSISTANT,
            ToolCallPart("add", None, "c"),
            id="a call of an OpenAPI tool",
        ),
        pytest.param(
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "tool_result", "tool_result": '{"sum": 2}'}]},
            Role.TOOL,
            ToolResultPart({"sum": 2}, "c"),
            id="a result whose call only the message names",
        ),
        pytest.param(
            {"type": "mcp_approval_request", "id": "m", "name": "wipe", "arguments": '{"all": true}'},
            Role.ASSISTANT,
            ToolCallPart("mcp_approval_request", ASKED, "m"),
            id="a question for approval",
        ),
        pytest.param(
            {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True, "reason": "Go on."},
            Role.TOOL,
            ToolResultPart({"approve": True, "reason": "Go on."}, "m", "mcp_approval_request"),
            id="an approval",
        ),
    ],
)
def test_calls_results_and_approvals_of_azures_agents(message, role, part):
    (found,) = messages_of(message)

    assert (found.role, found.parts) == (role, (part,))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        pytest.param('{"reasoningContent": {"reasoningText": {"text": "Hm."}}}', ReasoningPart, id="bedrock"),
        pytest.param('{"reasoningContent": "is a word"}', TextPart, id="no-block"),
        pytest.param('{"reasoningContent": {}, "more": 1}', TextPart, id="more-than-the-block"),
    ],
)
def test_reasoning_that_was_written_as_a_text_is_not_said(text: str, part: type) -> None:
    message = {"role": "assistant", "parts": [{"type": "text", "content": text}, {"type": "text", "content": "Yes."}]}

    (read,) = messages_of(message)

    assert [type(one) for one in read.parts] == [part, TextPart]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('[{"type":"text","text":"Be brief."}]', "Be brief.", id="written-without-blanks"),
        pytest.param('[{"type": "text", "text": "Be brief."}]', "Be brief.", id="written-with-blanks"),
        pytest.param('[{"type":"text","text":"a"},{"type":"tool_result"}]', None, id="other-blocks-among-them"),
        pytest.param('[{"type":"text"}]', None, id="no-text"),
    ],
)
def test_a_list_of_texts_that_was_written_as_one_text_is_those_texts(text: str, said: str | None) -> None:
    (read,) = messages_of({"role": "system", "parts": [{"type": "text", "content": text}]})

    assert read.parts == (TextPart(said if said is not None else text),)
