from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects import langsmith
from collector.messages.decoder import MessageDecoder
from collector.model import GapKind
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

THREAD = {"langsmith.metadata.thread_id": "s-1"}
OPERATIONS = {"llm": "chat", "tool": "execute_tool", "prompt": "chat", "retriever": "embeddings"}
USED = [{"name": TOOL, "args": ARGUMENTS, "id": CALL, "type": "tool_call"}]


def run(kind: str, given: Any = None, returned: Any = None, **attributes: Any) -> dict[str, Any]:
    values = {"gen_ai.prompt": given, "gen_ai.completion": returned}
    encoded = {key: json.dumps(value) for key, value in values.items() if value is not None}
    return {
        "langsmith.span.kind": kind,
        "gen_ai.operation.name": OPERATIONS.get(kind, kind),
        "gen_ai.system": "langchain",
        "langsmith.trace.session_name": "project",
        "langsmith.trace.session_id": "the project's id",
        **encoded,
        **attributes,
    }


def dumped(kind: str, content: str, **more: Any) -> dict[str, Any]:
    return {"content": content, "additional_kwargs": {}, "response_metadata": {}, "type": kind, "id": None, **more}


def serialised(name: str, content: str, **more: Any) -> dict[str, Any]:
    metadata = {"id": f"chatcmpl-{content or name}"}
    kwargs = {"content": content, "response_metadata": metadata, **more}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


SYSTEM, HUMAN = serialised("SystemMessage", PROMPT), serialised("HumanMessage", ASKED)
ASKING = serialised("AIMessage", "", tool_calls=USED)
TOLD_BY_TOOL = serialised("ToolMessage", json.dumps(RESULT), tool_call_id=CALL, status="success")
SAID, HUMAN_NEXT = serialised("AIMessage", TOLD), serialised("HumanMessage", ASKED_NEXT)


def call(history: list[Any], answer: Any) -> dict[str, Any]:
    generation = {"text": answer["kwargs"]["content"], "type": "ChatGeneration", "message": answer}
    return run("llm", {"messages": [history]}, {"generations": [[generation]], "llm_output": {}})


def of_an_agent() -> list[Span]:
    """A checkpointer hides the history: the root is given this turn's words, and gives all that was ever said."""
    first = [SYSTEM, HUMAN, ASKING, TOLD_BY_TOOL]
    told = [dumped("human", ASKED), dumped("ai", "", tool_calls=USED), dumped("ai", TOLD)]
    named = {"langsmith.metadata.lc_agent_name": "clerk"} | THREAD
    result = {"output": dumped("tool", json.dumps(RESULT), name=TOOL, tool_call_id=CALL, status="success")}
    ids = {"gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": CALL}
    answer_next = serialised("AIMessage", TOLD_NEXT)
    return [
        span("r1", run("chain", {"messages": [["user", ASKED]]}, {"messages": told}, **named), lasts=9),
        span(
            "m1", run("chain", {"messages": told[:1]}, {"output": [{"graph": None, "update": {}}]}), at=1, parent="r1"
        ),
        span("c1", call(first[:2], ASKING), at=1, parent="m1"),
        span("n1", run("chain", {"input": USED}, {"messages": []}), at=2, lasts=2, parent="r1"),
        span("t1", run("tool", ARGUMENTS, result, **ids), at=3, parent="n1"),
        span("c2", call(first, SAID), at=5, parent="r1"),
        span(
            "r2",
            run("chain", {"messages": [["user", ASKED_NEXT]]}, {"messages": [*told, dumped("ai", TOLD_NEXT)]}, **named),
            at=20,
            lasts=9,
            trace="t2",
        ),
        span("c3", call([*first, SAID, HUMAN_NEXT], answer_next), at=21, trace="t2", parent="r2"),
    ]


def test_an_agent_is_the_whole_conversation() -> None:
    (conversation,) = rebuild(of_an_agent())

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert conversation.agent.name == "clerk"
    assert all(turn.gaps == () for turn in conversation.turns)


def test_without_the_roots_the_steps_are_the_same_turns() -> None:
    spans = [item for item in of_an_agent() if item.name not in {"r1", "r2"}]
    named = [
        span(item.name, dict(item.attributes) | THREAD, at=index, trace="t2" if item.name == "c3" else "t1", parent="r")
        for index, item in enumerate(spans)
    ]

    (conversation,) = rebuild(named)

    assert shown(conversation) == WHOLE
    assert all(turn.gaps == (GapKind.SPANS_MISSING,) for turn in conversation.turns)


@pytest.mark.parametrize("name", ["thread_id", "session_id", "conversation_id"])
def test_each_name_of_a_thread_is_the_conversation_and_the_project_is_not(name: str) -> None:
    attributes = run("chain", {"input": ASKED}, {"output": TOLD}, **{f"langsmith.metadata.{name}": "s-7"})

    (conversation,) = rebuild([span("r1", attributes)])

    assert conversation.conversation_id == "s-7"


def test_without_a_thread_the_project_joins_nothing() -> None:
    spans = [
        span("r1", run("chain", {"input": ASKED}, {"output": TOLD})),
        span("r2", run("chain", {"input": ASKED_NEXT}, {"output": TOLD_NEXT}), at=9, trace="t2"),
    ]

    assert [shown(found) for found in rebuild(spans)] == [[(ASKED, [], TOLD)], [(ASKED_NEXT, [], TOLD_NEXT)]]


def test_openai_bodies_are_read_with_their_ids_and_tools() -> None:
    request = {
        "messages": [{"role": "user", "content": ASKED}],
        "model": "m-1",
        "tools": [{"type": "function", "function": {"name": TOOL, "parameters": {"type": "object"}}}],
    }
    message = {"role": "assistant", "content": TOLD}
    response = {"id": "chatcmpl-7", "object": "chat.completion", "model": "m-1b", "choices": [{"message": message}]}

    found = langsmith.read_span(span("c", run("llm", request, response)), MessageDecoder())

    assert found.kind is OperationKind.MODEL_CALL
    assert found.response_id == "chatcmpl-7"
    assert found.tool_definitions is not None
    assert found.tool_definitions[0].name == TOOL
    assert [str(part) for message in found.output for part in message.parts] == [f"TextPart(text={TOLD!r})"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"parcel": "P-9"}, {"parcel": "P-9"}, id="object"),
        pytest.param({"input": "{'parcel': 'P-9'}"}, {"parcel": "P-9"}, id="printed"),
        pytest.param({"input": '{"parcel": "P-9"}'}, {"parcel": "P-9"}, id="json-text"),
        pytest.param({"input": "P-9"}, {"input": "P-9"}, id="bare"),
        pytest.param({}, {}, id="none"),
    ],
)
def test_arguments_of_a_tool_run(given: Any, expected: Any) -> None:
    found = langsmith.read_span(span("t", run("tool", given, "Oslo", **{"gen_ai.tool.name": TOOL})), MessageDecoder())

    assert found.has_arguments
    assert found.arguments == expected
    assert found.result == "Oslo"


def test_a_tool_message_tells_its_call_and_that_it_failed() -> None:
    returned = {"output": dumped("tool", "No such parcel", name=TOOL, tool_call_id=CALL, status="error")}

    found = langsmith.read_span(span(TOOL, run("tool", ARGUMENTS, returned)), MessageDecoder())

    assert (found.tool_name, found.call_id, found.result, found.is_error) == (TOOL, CALL, "No such parcel", True)


@pytest.mark.parametrize("kind", ["prompt", "parser", "embedding"])
def test_prompts_parsers_and_embeddings_are_no_calls_that_a_user_sees(kind: str) -> None:
    chain = run("chain", {"question": ASKED}, {"output": TOLD}, **THREAD)
    step = run(kind, {"question": ASKED}, {"output": {"messages": [dumped("human", ASKED)]}})
    spans = [
        span("r1", chain, lasts=9),
        span("p1", step, at=1, parent="r1"),
        span("c1", call([HUMAN], SAID), at=2, parent="r1"),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_an_answer_streamed_in_pieces_is_one() -> None:
    (conversation,) = rebuild(
        [span("r1", run("chain", {"question": ASKED}, {"output": ["Parcel P-9 ", "is in Oslo."]}))]
    )

    assert shown(conversation) == [(ASKED, [], TOLD)]


def test_a_conversation_cut_in_its_middle_gives_no_answer_of_an_earlier_turn() -> None:
    told = [dumped("human", ASKED), dumped("ai", TOLD), dumped("human", ASKED_NEXT), dumped("ai", TOLD_NEXT)]
    attributes = run("chain", {"messages": [["user", ASKED_NEXT]]}, {"messages": told}, **THREAD)
    attributes["gen_ai.completion"] = attributes["gen_ai.completion"][: len(json.dumps(told[:2]))]

    (conversation,) = rebuild(
        [
            span("r1", attributes),
            span("c1", call([SYSTEM, HUMAN_NEXT], serialised("AIMessage", TOLD_NEXT)), parent="r1"),
        ]
    )

    assert shown(conversation) == [(ASKED_NEXT, [], TOLD_NEXT)]
