"""Words that are JSON, and values that a limit on their length cut without a sign."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.truncation import shows_a_limit
from collector.model import GapKind, Turn
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, rebuild, span

ORDER = json.dumps({"question": "Is it sent?", "order": 7})


def wrapper(given: str, **more: Any) -> dict[str, Any]:
    return {"openinference.span.kind": "AGENT", "input.value": given, "output.value": "Yes.", **more}


def turn_of(*items: Span) -> Turn:
    (conversation,) = rebuild(items)
    (turn,) = conversation.turns
    return turn


@pytest.mark.parametrize(
    ("given", "asked", "words"),
    [
        pytest.param(ORDER, ORDER, ORDER, id="the-model-was-asked-the-payload"),
        pytest.param(ORDER, "Is it sent?", "Is it sent?", id="the-model-was-asked-the-words"),
        pytest.param("Is it sent?", '{"facts": ["none"]}', "Is it sent?", id="the-model-was-asked-something-else"),
        pytest.param("Is it sent?", "{Is it sent?", "Is it sent?", id="no-json"),
    ],
)
def test_a_user_who_sends_json_said_all_of_it(given: str, asked: str, words: str) -> None:
    turn = turn_of(
        span("agent", wrapper(given, **{"output.mime_type": "text/plain"}), lasts=50),
        span("call", chat([asks(asked)], "Yes."), at=3, parent="agent"),
    )

    assert (turn.user_input, turn.output) == (words, "Yes.")


@pytest.mark.parametrize(
    ("values", "is_limited"),
    [
        pytest.param(['{"a": "' + "x" * 60, "y" * 67], True, id="json-and-text-of-one-length"),
        pytest.param(['{"a": "' + "x" * 60, "y" * 60], False, id="text-is-shorter"),
        pytest.param(['{"a": "' + "x" * 60], False, id="json-alone-shows-it-itself"),
        pytest.param(['{"a": "' + "x" * 58 + '"}', "y" * 67], False, id="json-is-whole"),
        pytest.param(["x" * 67, "y" * 67, 5, True, None, ["z"]], False, id="texts-of-one-length-by-chance"),
        pytest.param(["{x", "yy"], False, id="too-short-for-a-limit"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_a_limit_shows_in_a_json_text_that_is_as_long_as_another(values: list[object], is_limited: bool) -> None:  # noqa: FBT001
    assert shows_a_limit(values) is is_limited


def test_an_answer_cut_by_a_limit_is_a_gap() -> None:
    attributes = chat([asks("Tell me all.")], None) | {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "All of it is ".ljust(200, "x"),
        "output.value": json.dumps({"content": "All of it is ".ljust(400, "x")})[:200],
    }
    turn = turn_of(span("call", attributes))

    assert GapKind.TRUNCATED in turn.gaps
