from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects import langfuse
from collector.messages.decoder import MessageDecoder
from collector.operation import OperationKind, Role, ToolCallPart
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

SCHEMA = {"type": "object", "properties": {"parcel": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": TOOL, "description": "Locates.", "parameters": SCHEMA}}
SYSTEM, USER = {"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}
CALLED = {"id": CALL, "type": "function", "function": {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}}
USE = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
GAVE = {"role": "tool", "tool_call_id": CALL, "content": json.dumps(RESULT)}
SAID, USER_NEXT = {"role": "assistant", "content": TOLD}, {"role": "user", "content": ASKED_NEXT}
SESSION = {"session.id": "s-1"}


def observed(kind: str, given: Any = None, returned: Any = None, **attributes: Any) -> dict[str, Any]:
    values = {"input": given, "output": returned}
    encoded = {
        f"langfuse.observation.{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }
    return {"langfuse.observation.type": kind} | encoded | attributes


def decorated(name: str, words: str, answer: str, **more: Any) -> dict[str, Any]:
    return observed(name, {"args": [words], "kwargs": {}}, answer, **SESSION, **more)


def two_turns(root: str = "agent") -> list[Span]:
    first = [SYSTEM, USER, USE, GAVE]
    return [
        span("a1", decorated(root, ASKED, TOLD), lasts=9, name="clerk"),
        span("c1", observed("generation", {"tools": [FUNCTION], "messages": first[:2]}, USE), at=1, parent="a1"),
        span("t1", observed("tool", {"args": [], "kwargs": ARGUMENTS}, RESULT), at=3, parent="a1", name=TOOL),
        span("c2", observed("generation", {"tools": [FUNCTION], "messages": first}, SAID), at=5, parent="a1"),
        span("a2", decorated(root, ASKED_NEXT, TOLD_NEXT), at=20, lasts=9, trace="t2", name="clerk"),
        span("c3", observed("generation", [*first, SAID, USER_NEXT], TOLD_NEXT), at=21, trace="t2", parent="a2"),
    ]


@pytest.mark.parametrize("root", ["agent", "span", "chain"])
def test_whatever_the_root_is_called_the_conversation_is_whole(root: str) -> None:
    (conversation,) = rebuild(two_turns(root))

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
    assert [tool.name for tool in conversation.tool_definitions] == [TOOL]
    assert all(turn.gaps == () for turn in conversation.turns)


@pytest.mark.parametrize(
    "key",
    [
        "langfuse.session.id",
        "langfuse.observation.metadata.langfuse_session_id",
        "langfuse.trace.metadata.thread_id",
        "langfuse.observation.metadata.conversation_id",
    ],
)
def test_the_session_is_found_where_each_way_of_tracing_puts_it(key: str) -> None:
    attributes = observed("generation", [USER], SAID, **{key: '"s-7"'})

    (conversation,) = rebuild([span("c1", attributes)])

    assert conversation.conversation_id == "s-7"


KINDS = [
    ("generation", OperationKind.MODEL_CALL, False),
    ("agent", OperationKind.AGENT, False),
    ("tool", OperationKind.TOOL, False),
    ("chain", OperationKind.WORKFLOW, False),
    ("span", OperationKind.WORKFLOW, False),
    ("retriever", OperationKind.RETRIEVAL, False),
    ("embedding", OperationKind.OTHER, True),
    ("evaluator", OperationKind.OTHER, True),
    ("guardrail", OperationKind.OTHER, True),
    ("event", OperationKind.OTHER, True),
    ("of-tomorrow", OperationKind.OTHER, False),
]


@pytest.mark.parametrize(("name", "kind", "is_internal"), KINDS, ids=[case[0] for case in KINDS])
def test_each_observation_type(name: str, kind: OperationKind, *, is_internal: bool) -> None:
    found = langfuse.read_span(span("x", observed(name, "in", "out")), MessageDecoder())

    assert (found.kind, found.is_internal) == (kind, is_internal)


HAND_MADE = [
    pytest.param({"langfuse.observation.model.name": "m-1"}, OperationKind.MODEL_CALL, id="with-a-model"),
    pytest.param({}, OperationKind.WORKFLOW, id="bare"),
    pytest.param({"gen_ai.operation.name": "execute_tool"}, OperationKind.OTHER, id="another-convention-says"),
]


@pytest.mark.parametrize(("attributes", "kind"), HAND_MADE)
def test_attributes_set_by_hand_need_no_type(attributes: dict[str, Any], kind: OperationKind) -> None:
    found = langfuse.read_span(span("x", {"langfuse.observation.input": ASKED} | attributes), MessageDecoder())

    assert found.kind is kind


def test_the_trace_tells_what_its_root_does_not() -> None:
    told = {"langfuse.trace.input": ASKED, "langfuse.trace.output": TOLD}

    (conversation,) = rebuild([span("a1", observed("agent", **told), name="clerk")])

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_calls_under_a_guardrail_are_no_turns() -> None:
    spans = [
        span("a1", decorated("agent", ASKED, TOLD), lasts=9),
        span("g1", observed("guardrail", ASKED, "true"), at=1, lasts=2, parent="a1"),
        span(
            "c0", observed("generation", [{"role": "user", "content": f"Harmless? {ASKED}"}], "yes"), at=1, parent="g1"
        ),
        span("c1", observed("generation", [USER], TOLD), at=5, parent="a1"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], TOLD)]


@pytest.mark.parametrize(
    "mark",
    [{"langfuse.experiment.id": "e-1"}, {"langfuse.environment": "sdk-experiment"}],
    ids=["attributes", "environment"],
)
def test_experiments_are_no_conversations(mark: dict[str, str]) -> None:
    spans = [span(item.name, dict(item.attributes) | mark, parent="") for item in two_turns()]

    assert rebuild(spans) == []


def test_langchains_messages_are_told_from_the_tool_definitions_after_them() -> None:
    use = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"name": TOOL, "args": ARGUMENTS, "id": CALL, "type": "tool_call"}],
    }
    definition = {"role": "tool", "content": FUNCTION}

    found = langfuse.read_span(
        span("c", observed("generation", [SYSTEM, USER, use, GAVE, definition], SAID)), MessageDecoder()
    )

    assert found.input is not None
    assert [message.role for message in found.input] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL]
    assert found.tool_definitions is not None
    assert found.tool_definitions[0].parameters == SCHEMA


def test_a_result_without_an_id_is_no_definition() -> None:
    found = langfuse.read_span(
        span("c", observed("generation", [USER, {"role": "tool", "content": {"name": "Oslo"}}], SAID)), MessageDecoder()
    )

    assert found.input is not None
    assert found.input.length == 2


def test_of_several_choices_the_first_counts_and_items_of_one_answer_all_do() -> None:
    items = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "call_id": CALL, "name": TOOL, "arguments": json.dumps(ARGUMENTS)},
    ]
    decoder = MessageDecoder()

    choices = langfuse.read_span(span("c", observed("generation", [USER], [SAID, {**SAID, "content": "No."}])), decoder)
    answer = langfuse.read_span(span("c", observed("generation", {"input": [USER]}, items)), decoder)

    assert len(choices.output) == 1
    assert [part for message in answer.output for part in message.parts if isinstance(part, ToolCallPart)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param("Where is P-9?", "Where is P-9?", id="text"),
        pytest.param({"prompt": "Where is P-9?"}, "Where is P-9?", id="prompt"),
        pytest.param(
            [{"role": "user", "content": [{"type": "text", "text": "Where is P-9?"}]}], "Where is P-9?", id="parts"
        ),
        pytest.param({"instructions": PROMPT, "input": "Where is P-9?", "model": "m"}, "Where is P-9?", id="responses"),
    ],
)
def test_what_a_generation_was_asked(given: Any, words: str) -> None:
    (conversation,) = rebuild([span("c1", observed("generation", given, TOLD))])

    assert shown(conversation) == [(words, [], TOLD)]


def test_levels_usage_model_and_version_are_taken_over() -> None:
    more = {
        "langfuse.observation.level": "ERROR",
        "langfuse.observation.status_message": "overloaded",
        "langfuse.observation.model.name": "m-1",
        "langfuse.observation.usage_details": json.dumps({"input": 7, "output": 3, "total": 10}),
    }
    decoder = MessageDecoder()

    call = langfuse.read_span(span("c", observed("generation", [USER], **more)), decoder)
    agent = langfuse.read_span(span("a", observed("agent", **{"langfuse.version": "9"}), name="clerk"), decoder)

    assert (call.is_error, call.error, call.model) == (True, "overloaded", "m-1")
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens) == (7, 3)
    assert agent.agent is not None
    assert (agent.agent.name, agent.agent.version) == ("clerk", "9")


def test_a_tool_observed_by_langchain_has_its_call_and_error() -> None:
    message = {"content": "No such parcel", "type": "tool", "name": TOOL, "tool_call_id": CALL, "status": "error"}

    found = langfuse.read_span(span("t", observed("tool", "{'parcel': 'P-9'}", message), name=TOOL), MessageDecoder())

    assert (found.tool_name, found.call_id, found.is_error) == (TOOL, CALL, True)
    assert (found.arguments, found.result) == (ARGUMENTS, "No such parcel")


def test_replayed_requests_decode_each_message_once() -> None:
    decoder = MessageDecoder()
    history: list[dict[str, Any]] = [SYSTEM]

    for turn in range(100):
        history += [{"role": "user", "content": f"Question {turn}"}, {"role": "assistant", "content": f"Answer {turn}"}]
        given = {"tools": [FUNCTION], "messages": history[:-1]}
        langfuse.read_span(span("c", observed("generation", given, history[-1])), decoder)

    assert decoder.decoded <= 2 * len(history)  # an answer is decoded as such, and once as history
