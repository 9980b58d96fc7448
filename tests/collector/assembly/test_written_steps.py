"""Agents whose framework writes calls and observations out as text, and ends a turn by a call of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.registry import read_span
from collector.messages.decoder import MessageDecoder
from collector.messages.shapes import messages_of
from collector.model import Conversation, GapKind, ToolCallStep, ToolResultStep, Turn
from collector.operation import Role, ToolCallPart, ToolResultPart
from collector.telemetry.records import Span
from tests.support.genai_spans import chat, rebuild, span

DOOR = ("call-00001", "open_door", {"gate": "north"})
OTHER_DOOR = ("call-00002", "open_door", {"gate": "south"})
END = ("call-00003", "give_answer", {"answer": "Both gates are open."})
ASKED = "Open both gates."
END_CALL = {"id": "call-00009", "type": "function", "function": {"name": END[1], "arguments": {"answer": "All done."}}}
END_MESSAGE = {"role": "assistant", "content": None, "tool_calls": [END_CALL]}


def written(*asked: tuple[str, str, Any]) -> dict[str, Any]:
    printed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in asked]
    return {"role": "tool-call", "content": f"Calling tools:\n{printed!r}"}


def observed(text: str) -> dict[str, Any]:
    return {"role": "tool-response", "content": [{"type": "text", "text": f"Observation:\n{text}"}]}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def llm(messages: list[dict[str, Any]], *wanted: tuple[str, str, Any]) -> dict[str, Any]:
    tools = [{"id": i, "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in wanted]
    answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": tools}}]}
    return {
        "openinference.span.kind": "LLM",
        "input.value": json.dumps({"messages": messages}),
        "output.value": json.dumps(answer),
    }


def ran(name: str, arguments: dict[str, Any], result: str) -> dict[str, Any]:
    given = {"args": [], "clean_up": True, "kwargs": arguments}
    return {
        "openinference.span.kind": "TOOL",
        "tool.name": name,
        "input.value": json.dumps(given),
        "output.value": result,
    }


def top(asked: str, answer: str) -> dict[str, Any]:
    given = {"input.value": json.dumps({"task": asked}), "output.value": answer, "output.mime_type": "text/plain"}
    return {"openinference.span.kind": "AGENT", "agent.name": "porter", **given}


def run_of(prefix: str, at: int, history: list[dict[str, Any]]) -> list[Span]:
    """One turn: both gates in one step, each span in the other order, then the call that ends the turn."""
    after = [*history, written(DOOR, OTHER_DOOR), observed("south is open\nnorth is open")]

    def part(name: str, attributes: dict[str, Any], start: int, lasts: int = 1) -> Span:
        parent = "" if name == "agent" else f"{prefix}-agent"
        return span(f"{prefix}-{name}", attributes, at=at + start, lasts=lasts, trace=prefix, parent=parent)

    return [
        part("agent", top(ASKED, END[2]["answer"]), 0, 50),
        part("m1", llm(history, DOOR, OTHER_DOOR), 1),
        part("t2", ran("open_door", OTHER_DOOR[2], "south is open"), 3),
        part("t1", ran("open_door", DOOR[2], "north is open"), 4),
        part("m2", llm(after, END), 6),
        part("t3", ran(END[1], END[2], END[2]["answer"]), 8),
    ]


def only(conversations: list[Conversation]) -> Conversation:
    (conversation,) = conversations
    return conversation


def results(turn: Turn) -> dict[str | None, Any]:
    return {step.call_id: step.result for step in turn.steps if isinstance(step, ToolResultStep)}


def test_each_tool_span_goes_to_the_call_with_its_arguments_and_an_observation_of_several_to_none() -> None:
    (turn,) = only(rebuild(run_of("one", 0, [user(f"New task:\n{ASKED}")]))).turns

    assert results(turn) == {"call-00001": "north is open", "call-00002": "south is open"}
    assert turn.gaps == ()


def test_the_call_that_gives_the_answer_is_the_output_and_no_step() -> None:
    (turn,) = only(rebuild(run_of("one", 0, [user(f"New task:\n{ASKED}")]))).turns

    assert turn.output == "Both gates are open."
    assert [s.name for s in turn.steps if isinstance(s, ToolCallStep)] == ["open_door", "open_door"]


def test_a_last_tool_that_gives_back_something_else_stays_a_step() -> None:
    asked = ("call-00009", "ring_bell", {"tune": "short"})
    (turn,) = only(
        rebuild(
            [
                span("agent", top("Ring.", "rung"), lasts=50),
                span("m1", llm([user("Ring.")], asked), at=1, parent="agent"),
                span("t1", ran(asked[1], asked[2], "rung"), at=3, parent="agent"),
            ]
        )
    ).turns

    assert [s.name for s in turn.steps if isinstance(s, ToolCallStep)] == ["ring_bell"]
    assert turn.output == "rung"


def test_turns_are_joined_by_the_calls_that_a_later_one_has_written_out() -> None:
    history = [user(f"New task:\n{ASKED}")]
    later = [*history, written(DOOR, OTHER_DOOR), observed("both"), written(END), observed(END[2]["answer"])]
    bye = ("call-00004", "give_answer", {"answer": "Bye."})

    conversation = only(
        rebuild(
            [
                *run_of("one", 0, history),
                span("two-agent", top("Bye!", "Bye."), at=100, lasts=20, trace="two"),
                span("two-m1", llm([*later, user("New task:\nBye!")], bye), at=101, trace="two", parent="two-agent"),
                span("two-t1", ran(bye[1], bye[2], "Bye."), at=104, trace="two", parent="two-agent"),
            ]
        )
    )

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [
        (ASKED, "Both gates are open."),
        ("Bye!", "Bye."),
    ]


def test_without_tool_spans_an_observation_of_several_calls_is_what_is_known_of_each() -> None:
    history = [user(ASKED), written(DOOR, OTHER_DOOR), observed("one opened, one did not")]
    answer = {"choices": [{"message": {"role": "assistant", "content": "One is open."}}]}
    last = llm(history) | {"output.value": json.dumps(answer)}
    (turn,) = only(rebuild([span("m1", last)])).turns

    assert results(turn) == dict.fromkeys((DOOR[0], OTHER_DOOR[0]), "one opened, one did not")
    assert GapKind.TOOL_RESULT_MISSING in turn.gaps


@pytest.mark.parametrize(
    ("text", "call_id"),
    [
        pytest.param("Call id: call-00001\nError:\nThe gate is stuck.", "call-00001", id="with-its-call"),
        pytest.param("Error:\nThe gate is stuck.", None, id="without"),
    ],
)
def test_a_written_error_is_a_result(text: str, call_id: str | None) -> None:
    (message,) = messages_of({"role": "tool-response", "content": text})

    assert message.role is Role.TOOL
    assert message.parts == (ToolResultPart(result="Error:\nThe gate is stuck.", call_id=call_id),)


def test_a_call_message_without_a_list_is_what_the_agent_said() -> None:
    (message,) = messages_of({"role": "tool-call", "content": "I call nobody [yet"})

    assert message.role is Role.ASSISTANT
    assert not any(isinstance(part, ToolCallPart) for part in message.parts)


def test_tools_wrapped_as_the_provider_wraps_them_are_defined() -> None:
    schema = {
        "type": "function",
        "function": {"name": "open_door", "description": "d", "parameters": {"type": "object"}},
    }
    attributes = llm([user("Hi")], DOOR) | {"llm.tools.0.tool.json_schema": json.dumps(schema)}
    operation = read_span(span("m1", attributes), MessageDecoder())

    assert operation is not None
    assert [tool.name for tool in operation.tool_definitions or ()] == ["open_door"]


def test_a_provider_is_sent_the_same_texts_under_the_roles_it_knows() -> None:
    printed = [{"id": DOOR[0], "type": "function", "function": {"name": DOOR[1], "arguments": DOOR[2]}}]
    go = "I go there.\n<code>go()</code>"
    asked = {"role": "assistant", "content": f"{go}\nCalling tools:\n{printed!r}"}
    came = {"role": "user", "content": "Observation:\nnorth is open"}
    both = {"role": "user", "content": "Observation:\nAll done.\nNew task:\nAnd now?"}
    history = [user(ASKED), asked, came]
    end = {"role": "assistant", "content": f"Calling tools:\n{[END_CALL]!r}"}
    items = [
        span("m1", chat([user(ASKED)], go), trace="one"),
        span("m2", chat(history, [END_MESSAGE]), at=50, trace="two"),
        span("m3", chat([*history, end, both], "Nothing."), at=90, trace="three"),
    ]

    first, second = only(rebuild(items)).turns

    assert (first.user_input, first.output) == (ASKED, "All done.")
    assert results(first) == {DOOR[0]: "north is open"}
    assert (second.user_input, second.output) == ("And now?", "Nothing.")


def test_a_user_who_writes_of_an_observation_is_a_user() -> None:
    words = "Observation:\nthe gate creaks"

    history = [user("Hi"), {"role": "assistant", "content": "Yes?"}, user(words)]
    _, turn = only(rebuild([span("m1", chat(history, "So?"))])).turns

    assert turn.user_input == words
