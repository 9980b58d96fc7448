from __future__ import annotations

import json
from typing import Any

import pytest

from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import log, rebuild, span
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

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "session.id": "s-1"}
EXECUTE = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": CALL}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk", "session.id": "s-1"}
USE = [{"toolUse": {"toolUseId": CALL, "name": TOOL, "input": ARGUMENTS}}]
GAVE = [{"toolResult": {"toolUseId": CALL, "status": "success", "content": [{"text": json.dumps(RESULT)}]}}]

Item = Span | LogRecord


def moved(span_id: str, sent: list[Any], given: list[Any], *, at: int, trace: str) -> LogRecord:
    """The one record that holds what was taken out of a span."""
    body = {"input": {"messages": sent}, "output": {"messages": given}}
    scope = "strands.telemetry.tracer"
    return log(scope, body, span_id=span_id, at=at, trace=trace, attributes={"event.name": scope, "session.id": "s-1"})


def in_events(role: str, content: Any, *, given: bool = False) -> dict[str, Any]:
    """Strands: an object of the span event's attributes."""
    key = "message" if given else "content"
    return {"role": role, "content": {key: json.dumps(content)}}


def plainly(role: str, content: Any, *, given: bool = False) -> dict[str, Any]:
    del given
    return {"role": role, "content": json.dumps(content)}


@pytest.mark.parametrize("said", [in_events, plainly], ids=["object", "json-text"])
def test_spans_without_content_and_their_records_are_one_conversation(said: Any) -> None:
    system = said("system", [{"text": PROMPT}])
    first = [system, said("user", [{"text": ASKED}])]
    second = [*first, said("assistant", USE), said("tool", GAVE)]
    third = [*second, said("assistant", [{"text": TOLD}]), said("user", [{"text": ASKED_NEXT}])]
    tool_given = [said("tool", ARGUMENTS)]

    items: list[Item] = [
        moved("c1", first, [said("assistant", USE, given=True)], at=1, trace="a"),
        span("c1", CHAT, at=1, trace="a", parent="r1"),
        span("t", EXECUTE, at=3, trace="a", parent="r1"),
        moved("t", tool_given, [said("assistant", [{"text": json.dumps(RESULT)}], given=True)], at=3, trace="a"),
        span("c2", CHAT, at=5, trace="a", parent="r1"),
        moved("c2", second, [said("assistant", [{"text": TOLD}], given=True)], at=6, trace="a"),
        span("r1", AGENT, lasts=9, trace="a"),
        span("c3", CHAT, at=11, trace="b", parent="r2"),
        moved("c3", third, [said("assistant", [{"text": TOLD_NEXT}], given=True)], at=12, trace="b"),
        span("r2", AGENT, at=10, lasts=9, trace="b"),
    ]
    (conversation,) = rebuild(items)

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    assert not conversation.turns[0].is_stand_in


def test_what_openinference_put_into_one_value_is_taken_apart() -> None:
    request = {"messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": ASKED}]}
    response = {"choices": [{"message": {"role": "assistant", "content": TOLD}}]}
    llm = {"openinference.span.kind": "LLM", "llm.model_name": "m", "session.id": "s-1"}

    (conversation,) = rebuild([
        span("c", llm, trace="a"),
        moved("c", [plainly("user", request)], [plainly("assistant", response)], at=1, trace="a"),
    ])  # fmt: skip

    assert shown(conversation) == [(ASKED, [], TOLD)]
    assert conversation.system_instructions == PROMPT
