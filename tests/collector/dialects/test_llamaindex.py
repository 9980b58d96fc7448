"""LlamaIndex under two instrumentations: requests that are made ready, tools that only their class names."""

from __future__ import annotations

import json
from typing import Any

from collector.telemetry.records import Span
from tests.support.genai_spans import asks, calls, chat, rebuild, returns, span
from tests.support.two_turns import ARGUMENTS, ASKED, CALL, CALLED, RESULT, RETURNED, TOLD, TOOL, shown

USE = calls((TOOL, CALL, ARGUMENTS))
INNER, INNER_ARGUMENTS = "look_in_ledger", {"row": 9}
INNER_CALL = "call-00000007"


def flat(prefix: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index, message in enumerate(messages):
        for key, value in message.items():
            found[f"{prefix}.{index}.message.{key}"] = value
    return found


def test_a_span_that_makes_the_request_ready_is_no_call() -> None:
    asked = [{"role": "system", "content": "You are a clerk."}, {"role": "user", "content": ASKED}]
    kind = {"openinference.span.kind": "LLM"}
    spans = [
        span("p", kind | flat("llm.input_messages", asked) | flat("llm.output_messages", asked), at=1),
        span(
            "c",
            kind
            | flat("llm.input_messages", asked)
            | flat("llm.output_messages", [{"role": "assistant", "content": TOLD}]),
            at=2,
        ),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [], TOLD)]
    assert len(conversation.turns) == 1


def test_a_tools_record_gives_the_value_that_it_gave_back() -> None:
    record = {"blocks": [{"text": ""}], "tool_name": TOOL, "raw_input": {"kwargs": ARGUMENTS}, "raw_output": RESULT}
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": TOOL,
        "input.value": json.dumps({"kwargs": ARGUMENTS}),
        "output.value": json.dumps(record | {"is_error": False}),
    }
    spans = [
        span("c1", chat([asks(ASKED)], [USE]), at=1),
        span("t", tool, at=3),
        span("c2", chat([asks(ASKED), USE, returns("", CALL)], TOLD), at=5),
    ]

    (conversation,) = rebuild(spans)

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], TOLD)]


def task(name: str, given: Any, *, at: int, lasts: int, parent: str, output: Any = None) -> Span:
    attributes = {"traceloop.span.kind": "task", "traceloop.entity.name": "FunctionTool.task"}
    attributes["traceloop.entity.input"] = json.dumps({"kwargs": given})
    if output is not None:
        attributes["traceloop.entity.output"] = json.dumps(output)
    return span(name, attributes, at=at, lasts=lasts, parent=parent, name="FunctionTool.task")


def test_a_tool_without_a_name_is_the_call_that_was_given_the_same_and_its_agent_is_nested() -> None:
    inner = calls((INNER, INNER_CALL, INNER_ARGUMENTS))
    question = asks("Which place is in row 9?")
    spans = [
        span("w", {"traceloop.span.kind": "workflow", "traceloop.entity.name": "clerk"}, lasts=40),
        span("c1", chat([asks(ASKED)], [USE]), at=1, parent="w"),
        task("t1", ARGUMENTS, at=3, lasts=20, parent="w"),
        span("c2", chat([question], [inner]), at=5, parent="t1"),
        task("t2", INNER_ARGUMENTS, at=7, lasts=2, parent="t1", output={"tool_name": INNER, "raw_output": "Oslo"}),
        span("c3", chat([question, inner, returns("Oslo", INNER_CALL)], "In Oslo."), at=11, parent="t1"),
        span("c4", chat([asks(ASKED), USE, returns(RESULT, CALL)], TOLD), at=30, parent="w"),
    ]

    (conversation,) = rebuild(spans)

    nested = [("call", INNER, INNER_ARGUMENTS), ("result", INNER, "Oslo"), ("says", "In Oslo.")]
    assert shown(conversation) == [(ASKED, [CALLED, *nested, RETURNED], TOLD)]
