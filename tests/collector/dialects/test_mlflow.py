from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects import mlflow
from collector.messages.decoder import MessageDecoder
from collector.operation import OperationKind
from collector.telemetry.records import Span
from tests.support.genai_spans import rebuild, span
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

SCHEMA = {"type": "object"}
USE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}],
}
SYSTEM, USER, USER_NEXT = (
    {"role": role, "content": text} for role, text in (("system", PROMPT), ("user", ASKED), ("user", ASKED_NEXT))
)
GAVE, SAID = (
    {"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)},
    {"role": "assistant", "content": TOLD},
)


def traced(kind: str, given: Any = None, returned: Any = None, **attributes: Any) -> dict[str, Any]:
    """Every value is JSON, texts as well."""
    values = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": returned} | attributes
    return {key: json.dumps(value) for key, value in values.items() if value is not None}


def openai(history: list[Any], answer: Any, response_id: str) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}]
    response = {"id": response_id, "object": "chat.completion", "choices": [{"index": 0, "message": answer}]}
    about = {"mlflow.message.format": "openai", "mlflow.chat.tools": tools, "mlflow.llm.model": "m-1"}
    return traced("CHAT_MODEL", {"model": "m-1", "messages": history, "tools": tools}, response, **about)


def two_turns() -> list[Span]:
    first = [SYSTEM, USER, USE, GAVE]
    said_next = {"role": "assistant", "content": TOLD_NEXT}
    return [
        span("a1", traced("AGENT", {"user_input": ASKED}, TOLD), lasts=9, name="clerk"),
        span("c1", openai(first[:2], USE, "chatcmpl-1"), at=1, parent="a1"),
        span("t1", traced("TOOL", ARGUMENTS, json.dumps(RESULT)), at=3, parent="a1", name=TOOL),
        span("c2", openai(first, SAID, "chatcmpl-2"), at=5, parent="a1"),
        span("a2", traced("AGENT", {"user_input": ASKED_NEXT}, TOLD_NEXT), at=20, lasts=9, trace="t2", name="clerk"),
        span("c3", openai([*first, SAID, USER_NEXT], said_next, "chatcmpl-3"), at=21, trace="t2", parent="a2"),
    ]


def test_the_history_makes_the_conversation_whole() -> None:
    (conversation,) = rebuild(two_turns())

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert conversation.agent.name == "clerk"
    assert [tool.name for tool in conversation.tool_definitions] == [TOOL]
    assert all(turn.gaps == () for turn in conversation.turns)


def test_model_calls_alone_are_the_same_conversation() -> None:
    calls = [item for item in two_turns() if item.name.startswith("c") and item.name != "clerk"]
    alone = [span(item.name, item.attributes, at=9 * index, trace=item.name) for index, item in enumerate(calls)]

    (conversation,) = rebuild(alone)

    assert shown(conversation) == WHOLE


@pytest.mark.parametrize(
    "key", ["session.id", "mlflow.trace.session", "mlflow.traceTag.session_id", "mlflow.traceTag.group_id"]
)
def test_the_session_is_found_where_it_may_be(key: str) -> None:
    (conversation,) = rebuild([span("c1", openai([USER], SAID, "chatcmpl-1") | {key: "s-7"})])

    assert conversation.conversation_id == "s-7"


def test_langchains_thread_is_in_its_metadata() -> None:
    attributes = openai([USER], SAID, "chatcmpl-1") | {"metadata": json.dumps({"thread_id": "s-7"})}

    (conversation,) = rebuild([span("c1", attributes)])

    assert conversation.conversation_id == "s-7"


ANTHROPIC = (
    {
        "model": "m",
        "system": PROMPT,
        "messages": [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": [{"type": "tool_use", "id": CALL, "name": TOOL, "input": ARGUMENTS}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL, "content": json.dumps(RESULT)}]},
        ],
    },
    {"id": "msg-1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": TOLD}]},
)
GEMINI = (
    {
        "model": "m",
        "config": {"system_instruction": PROMPT},
        "contents": [
            {"role": "user", "parts": [{"text": ASKED}]},
            {"role": "model", "parts": [{"function_call": {"name": TOOL, "args": ARGUMENTS}}]},
            {"role": "user", "parts": [{"function_response": {"name": TOOL, "response": RESULT}}]},
        ],
    },
    {"candidates": [{"content": {"role": "model", "parts": [{"text": TOLD}]}}], "response_id": "r-1"},
)
BEDROCK = (
    {
        "modelId": "m",
        "system": [{"text": PROMPT}],
        "messages": [
            {"role": "user", "content": [{"text": ASKED}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": CALL, "name": TOOL, "input": ARGUMENTS}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": CALL, "content": [{"json": RESULT}]}}]},
        ],
    },
    {"output": {"message": {"role": "assistant", "content": [{"text": TOLD}]}}, "stopReason": "end_turn"},
)
RESPONSES = (
    {
        "model": "m",
        "instructions": PROMPT,
        "input": [
            {"role": "user", "content": ASKED},
            {"type": "function_call", "call_id": CALL, "name": TOOL, "arguments": json.dumps(ARGUMENTS)},
            {"type": "function_call_output", "call_id": CALL, "output": json.dumps(RESULT)},
        ],
    },
    {
        "id": "resp-1",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TOLD}]}],
    },
)
LANGCHAIN = (
    [[{"type": "system", "content": PROMPT}, {"type": "human", "content": ASKED},
      {"type": "ai", "content": "", "tool_calls": [{"name": TOOL, "args": ARGUMENTS, "id": CALL}]},
      {"type": "tool", "content": json.dumps(RESULT), "tool_call_id": CALL, "name": TOOL}]],
    {"generations": [[{"text": TOLD, "message": {"type": "ai", "content": TOLD}}]]},
)  # fmt: skip
FORMATS = [
    pytest.param("anthropic", *ANTHROPIC, id="anthropic"),
    pytest.param("gemini", *GEMINI, id="gemini"),
    pytest.param("bedrock", *BEDROCK, id="bedrock"),
    pytest.param("openai", *RESPONSES, id="openai-responses"),
    pytest.param("langchain", *LANGCHAIN, id="langchain"),
]


@pytest.mark.parametrize(("message_format", "given", "returned"), FORMATS)
def test_each_format_of_messages(message_format: str, given: Any, returned: Any) -> None:
    attributes = traced("CHAT_MODEL", given, returned, **{"mlflow.message.format": message_format})

    (conversation,) = rebuild([span("c1", attributes)])

    assert shown(conversation) == WHOLE[:1]
    assert conversation.system_instructions == PROMPT


KINDS = [
    ("LLM", OperationKind.MODEL_CALL, False),
    ("CHAIN", OperationKind.WORKFLOW, False),
    ("UNKNOWN", OperationKind.WORKFLOW, False),
    ("RETRIEVER", OperationKind.RETRIEVAL, False),
    ("EMBEDDING", OperationKind.OTHER, True),
    ("RERANKER", OperationKind.OTHER, True),
    ("EVALUATOR", OperationKind.OTHER, True),
    ("GUARDRAIL", OperationKind.OTHER, True),
    ("MEMORY", OperationKind.OTHER, False),
    ("PARSER", OperationKind.OTHER, False),
]


@pytest.mark.parametrize(("name", "kind", "is_internal"), KINDS, ids=[case[0] for case in KINDS])
def test_each_span_type(name: str, kind: OperationKind, *, is_internal: bool) -> None:
    found = mlflow.read_span(span("x", traced(name, "in", "out")), MessageDecoder())

    assert (found.kind, found.is_internal) == (kind, is_internal)


@pytest.mark.parametrize("key", ["mlflow.trace.sourceScorer", "mlflow.traceTag.mlflow.trace.sourceScorer"])
def test_a_trace_that_a_scorer_made_is_no_conversation(key: str) -> None:
    first, *rest = two_turns()[:4]
    root = span(first.name, dict(first.attributes) | {key: "my judge"}, lasts=9)

    assert rebuild([span("a1", root.attributes, lasts=9), *rest]) == []


def test_a_handoff_of_the_openai_agents_sdk() -> None:
    spans = [
        *two_turns()[:4],
        span("h1", traced("CHAIN", {"from_agent": "clerk"}, {"to_agent": "courier"}), at=4, parent="a1"),
    ]

    (conversation,) = rebuild(spans)

    assert ("handoff", "courier") in shown(conversation)[0][1]


def test_an_agents_output_type_is_no_answer() -> None:
    root = traced("AGENT", None, {"output_type": "str"})

    (conversation,) = rebuild([span("a1", root, lasts=9), span("c1", openai([USER], SAID, "r-1"), at=1, parent="a1")])

    assert shown(conversation) == [(ASKED, [], TOLD)]


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param(["Parcel P-9 ", "is in ", "Oslo."], id="texts"),
        pytest.param(
            [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
             for text in ("Parcel P-9 ", "is in Oslo.")],
            id="chunks",
        ),
    ],
)  # fmt: skip
def test_an_answer_recorded_as_it_was_streamed_is_one(returned: Any) -> None:
    (conversation,) = rebuild([span("a1", traced("AGENT", {"messages": [USER]}, returned))])

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_a_tool_of_langchain_has_printed_arguments_and_a_message_as_result() -> None:
    message = {"content": json.dumps(RESULT), "type": "tool", "name": TOOL, "tool_call_id": CALL, "status": "success"}

    found = mlflow.read_span(span("t", traced("TOOL", "{'parcel': 'P-9'}", message), name=TOOL), MessageDecoder())

    assert (found.arguments, found.result, found.call_id, found.is_error) == (ARGUMENTS, RESULT, CALL, False)


def test_a_chain_of_responses_holds_only_what_is_new() -> None:
    given = {"model": "m", "input": [USER_NEXT], "previous_response_id": "resp-1"}

    found = mlflow.read_span(span("c", traced("CHAT_MODEL", given, {"id": "resp-2", "output": []})), MessageDecoder())

    assert (found.response_id, found.previous_response_id, found.input_is_delta) == ("resp-2", "resp-1", True)


def test_spans_under_the_semantic_conventions_need_nothing_of_ours() -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": TOLD}]}]),
        "mlflow.traceTag.session_id": "s-7",
    }

    (conversation,) = rebuild([span("c1", attributes, scope="mlflow.tracing.provider")])

    assert not mlflow.sniffs_span(span("c1", attributes))
    assert (conversation.conversation_id, shown(conversation)) == ("s-7", [(ASKED, [], TOLD)])
