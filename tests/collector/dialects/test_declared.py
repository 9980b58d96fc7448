"""Spans of an application's own that are declared to be turns."""

from __future__ import annotations

import json

import pytest

from collector.assembly.reconstruct import reconstruct
from collector.dialects.declared import DeclaredSpan
from collector.live.standard import StandardReconstruction
from collector.telemetry.decode import iter_spans
from evaluators.formats.otlp import request_of
from tests.support.two_turns import shown

DECLARED = DeclaredSpan(
    span="POST /chat*", service="shop", user_input="app.question", output="app.answer", conversation_id="app.session"
)


def span(number: int, name: str = "POST /chat", parent: int | None = None, **attributes: str):
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number + (0 if parent is None else 1000):016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str(number * 10**9),
        "endTimeUnixNano": str(number * 10**9 + 5),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def request(*spans, service="shop"):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return request_of({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]})


def turn(number: int, **changes: str):
    given = {"app.question": f"question {number}", "app.answer": f"answer {number}", "app.session": "s-1"}
    return span(number, **(given | changes))


def test_declared_spans_are_the_turns_of_a_conversation():
    (conversation,) = reconstruct([request(turn(1), turn(2))], declared=[DECLARED])

    assert conversation.conversation_id == "s-1"
    assert shown(conversation) == [("question 1", [], "answer 1"), ("question 2", [], "answer 2")]


def test_without_a_declaration_they_say_nothing():
    assert reconstruct([request(turn(1), turn(2))]) == []


@pytest.mark.parametrize(
    "given",
    [request(span(1, "GET /health", **{"app.question": "q", "app.answer": "a"})), request(turn(1), service="other")],
    ids=["another span", "another service"],
)
def test_other_spans_are_left_alone(given):
    assert reconstruct([given], declared=[DECLARED]) == []


def test_the_users_own_words_win_over_the_prompt_that_was_made_of_them():
    prompt = [{"role": "user", "parts": [{"type": "text", "content": "Answer politely: question 1"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "raw answer"}]}]
    call = span(
        1,
        "chat m",
        parent=1,
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(prompt),
            "gen_ai.output.messages": json.dumps(answer),
        },
    )

    (conversation,) = reconstruct([request(turn(1), call)], declared=[DECLARED])

    assert [(one.user_input, one.output) for one in conversation.turns] == [("question 1", "answer 1")]


def test_messages_as_json_are_read_as_such():
    told = json.dumps([{"role": "assistant", "content": "Hello."}])

    (conversation,) = reconstruct([request(turn(1, **{"app.answer": told}))], declared=[DECLARED])

    assert conversation.turns[0].output == "Hello."


def test_the_live_state_looks_for_their_attributes_and_reads_them():
    live = StandardReconstruction(declared=[DECLARED])
    (read,) = iter_spans(request(turn(1))[1])

    operation = live.read_span(read)

    assert {b"app.question", b"app.answer", b"app.session"} <= set(live.markers())
    assert operation is not None
    assert (operation.conversation_id, operation.dialect) == ("s-1", "declared")
