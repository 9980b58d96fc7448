"""Chains of which a sampler took some spans: what is left over is told as what it is, and nothing more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.decoder import MessageDecoder
from collector.messages.entities import call_arguments, output_items
from collector.model import GapKind, Turn
from collector.operation import TextPart, ToolCallPart
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, rebuild, span, tool


def chain(asked: str, given: str) -> dict[str, Any]:
    sent = json.dumps({"messages": [{"role": "user", "content": asked}]})
    texts = {"input.value": sent, "output.value": given, "output.mime_type": "text/plain"}
    return {"openinference.span.kind": "CHAIN", **texts}


def turn_of(*items: Span) -> Turn:
    (conversation,) = rebuild(items)
    (turn,) = conversation.turns
    return turn


def test_a_step_of_a_missing_chain_gives_no_answer_beside_the_call_that_does() -> None:
    turn = turn_of(
        span("call", chat([asks("Which way?")], "To the left."), at=1, parent="lost"),
        span("router", chain("Which way?", "finish"), at=5, parent="lost"),
    )

    assert turn.output == "To the left."


def test_a_chain_under_a_span_of_another_backend_keeps_its_answer() -> None:
    turn = turn_of(span("flow", chain("Which way?", "To the left."), parent="elsewhere"))

    assert (turn.user_input, turn.output) == ("Which way?", "To the left.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param("content='Left.' additional_kwargs={} id='m-1'", "Left.", id="answer"),
        pytest.param("content='9' name='count' tool_call_id='call-1'", None, id="result"),
        pytest.param("content='Wait.' additional_kwargs={'tool_calls': [{'id': 'x'}]}", None, id="asks"),
        pytest.param("__end__", None, id="marker"),
        pytest.param("__init__ is a method", "__init__ is a method", id="words"),
        pytest.param("x=1 is the root", "x=1 is the root", id="formula"),
    ],
)
def test_a_printed_message_is_said_only_where_it_is_an_answer(given: str, said: str | None) -> None:
    items = output_items(given)

    assert (items[0]["content"] if items else None) == said


def test_printed_arguments_are_arguments() -> None:
    assert call_arguments("{'of': 'sheep', 'all': True}") == {"of": "sheep", "all": True}
    assert call_arguments("{not: arguments") == "{not: arguments"


def test_a_callbacks_record_in_place_of_arguments_is_looked_into() -> None:
    record = {"input_str": "{'of': 'sheep'}", "tags": ["a"], "inputs": {"of": "sheep"}}
    turn = turn_of(
        span("call", chat([asks("How many?")], "Nine."), at=1),
        span("run", tool("count", record, "9"), at=3, parent="call"),
    )

    (step,) = [step for step in turn.steps if step.kind == "tool_call"]
    assert step.arguments == {"of": "sheep"}


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param('{"arguments":{"of":"cows"},"name":"coun', id="in-the-name"),
        pytest.param('{"arguments":{"of":"co', id="in-the-arguments"),
    ],
)
def test_a_part_cut_before_its_type_is_neither_words_nor_a_call(cut: str) -> None:
    whole = '{"arguments":{"of":"sheep"},"id":"call-00001","name":"count","type":"tool_call"}'
    decoded = MessageDecoder().read(f'[{{"role":"assistant","parts":[{whole},{cut}')
    (message,) = decoded.messages

    assert [part.arguments for part in message.parts if isinstance(part, ToolCallPart)] == [{"of": "sheep"}]
    assert not any(isinstance(part, TextPart) for part in message.parts)
    assert message.gaps == (GapKind.TRUNCATED,)
