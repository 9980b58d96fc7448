"""Every form comes to the same conversation."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from evaluators.errors import InputFormError, MissingArgumentError
from evaluators.formats import FORMAT_NAMES, conversation_from, conversations_from
from tests.support.input_forms import FORMS, Exchange
from tests.support.recordings import REFUND
from tests.support.two_turns import shown

SYSTEM = "You are a clerk of the parcel service."
EXCHANGES = [
    Exchange("Where is parcel P-9?", "It is in Oslo.", tool="locate", argument="P-9", result="Oslo"),
    Exchange("And when does it arrive?", "On Friday."),
]
WHOLE = [
    (
        "Where is parcel P-9?",
        [("call", "locate", {"value": "P-9"}), ("result", "locate", "Oslo")],
        "It is in Oslo.",
    ),
    ("And when does it arrive?", [], "On Friday."),
]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_comes_to_the_same_conversation(form):
    conversation = conversation_from(form(EXCHANGES, SYSTEM))

    assert shown(conversation) == WHOLE
    assert conversation.system_instructions == SYSTEM
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_json_text_of_a_form_is_that_form(form):
    value = form(EXCHANGES, SYSTEM)

    assert conversation_from(json.dumps(value)) == conversation_from(value)


def test_the_same_content_has_the_same_ids_in_every_run_and_other_content_has_others():
    one = conversation_from(FORMS["chat"](EXCHANGES, SYSTEM))
    again = conversation_from(FORMS["query and response, nested calls"](EXCHANGES, SYSTEM))
    other = conversation_from(FORMS["chat"](EXCHANGES[:1], SYSTEM))

    assert (one.conversation_id, one.turns[0].span_id) == (again.conversation_id, again.turns[0].span_id)
    assert one.conversation_id != other.conversation_id


@pytest.mark.parametrize("name", ["conversation_id", "session_id", "thread_id", "gen_ai.conversation.id"])
def test_an_id_of_ones_own_is_kept(name):
    conversation = conversation_from({name: "c-7", "turns": [{"input": "a", "actual_output": "b"}]})

    assert conversation.conversation_id == "c-7"


def test_telemetry_is_rebuilt():
    document = json.loads(REFUND.read_text().splitlines()[0])

    assert conversations_from(document)[0].turns


@pytest.mark.parametrize(
    ("value", "turns"),
    [
        pytest.param([{"input": "a", "actual_output": "b"}], [("a", [], "b")], id="a bare list of pairs"),
        pytest.param({"input": "a", "actual_output": "b"}, [("a", [], "b")], id="one pair"),
        pytest.param([{"role": "user", "content": "a"}], [("a", [], None)], id="a bare list of messages"),
        pytest.param({"conversation": [{"role": "user", "content": "a"}]}, [("a", [], None)], id="in a column"),
        pytest.param(
            {"conversation": {"messages": [{"role": "user", "content": "a"}]}}, [("a", [], None)], id="in two"
        ),
        pytest.param({"query": "a", "response": "b"}, [("a", [], "b")], id="two texts"),
        *(
            pytest.param({"query": "a", "response": text}, [("a", [], text)], id=f"the answer {text}")
            for text in (
                '{"total": 5}',
                "[1, 2]",
                '{"type": "invoice"}',
                '[{"role": "admin", "name": "Bo"}]',
                "42",
                "{}",
            )
        ),
        pytest.param({"query": "[3, 4]", "response": "b"}, [("[3, 4]", [], "b")], id="a query in JSON"),
        pytest.param({"input": "a", "output": '{"total": 5}'}, [("a", [], '{"total": 5}')], id="an output in JSON"),
        pytest.param(
            {"query": '[{"role": "user", "content": "a"}]', "response": '{"role": "assistant", "content": "b"}'},
            [("a", [], "b")],
            id="messages as JSON text",
        ),
        pytest.param(
            {"messages": [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "a"}]},
            [(None, [], "Hi."), ("a", [], None)],
            id="the agent speaks first",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]},
            [("a\n\nb", [], None)],
            id="two inputs in a row are one",
        ),
        pytest.param(
            {
                "messages": [{"role": "user", "content": "q"}],
                "choices": [{"message": {"role": "assistant", "content": "r"}}],
            },
            [("q", [], "r")],
            id="a request and its answer",
        ),
    ],
)
def test_short_forms(value, turns):
    assert shown(conversation_from(value)) == turns


def test_what_a_turn_took_and_what_was_retrieved_for_it_is_kept():
    turn = conversation_from(
        {
            "turns": [
                {
                    "input": "a",
                    "actual_output": "b",
                    "latency": 1500,
                    "usage_info": {"input_tokens": 100, "output_tokens": 10},
                    "cost_info": {"cost_per_input_token": 0.001, "cost_per_output_token": 0.01},
                    "retrieval_context": ["The shop opens at nine."],
                }
            ]
        }
    ).turns[0]

    assert turn.end_ns - turn.start_ns == 1_500_000_000
    assert (turn.input_tokens, turn.output_tokens, turn.cost_usd) == (100, 10, pytest.approx(0.2))
    assert turn.steps[0].result == ["The shop opens at nine."]
    assert turn.gaps == ()


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        pytest.param({"turns": [{"input": "a"}]}, "turns[0].actual_output", id="no output"),
        pytest.param(
            {"turns": [{"input": "a", "actual_output": "b"}, {"actual_output": "b"}]}, "turns[1].input", id="no input"
        ),
        pytest.param(
            {"messages": [{"llm_test_case": {"input": "a"}}]}, "messages[0].llm_test_case.actual_output", id="test case"
        ),
        pytest.param({"turns": [{"role": "user"}]}, "turns[0].content", id="no content"),
        pytest.param({"turns": []}, "turns", id="no turn"),
        pytest.param({"messages": []}, "messages", id="no message"),
        pytest.param({"query": "a"}, "response", id="no response"),
        pytest.param({"response": "a"}, "query", id="no query"),
    ],
)
def test_what_is_missing_is_named(value, argument):
    with pytest.raises(MissingArgumentError) as caught:
        conversation_from(value)

    assert caught.value.argument == argument
    assert argument in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no conversation in a known form"),
        ("hello", "no conversation in a known form"),
        ({"questions": []}, "no conversation in a known form"),
        ({"turns": 3}, "turns must be a list"),
        ({"query": 3, "response": "b"}, "query must be a text or a list of messages"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "The role of messages[0] is 'critic'"),
        ({"messages": [{"role": 7, "content": "x"}]}, "The role of messages[0] is a int"),
        ({"messages": ["x"]}, "messages[0] is no message"),
        ({"messages": [{"role": "system", "content": "x"}]}, "holds no message of a user"),
    ],
)
def test_what_is_no_conversation_is_named(value, words):
    with pytest.raises(InputFormError) as caught:
        conversation_from(value)

    assert words in str(caught.value)


def test_a_named_form_is_the_only_one_that_is_tried():
    with pytest.raises(InputFormError, match="not of the form 'chat'"):
        conversation_from({"turns": [{"input": "a", "actual_output": "b"}]}, name="chat")
    with pytest.raises(InputFormError, match="did you mean 'dialogue'"):
        conversation_from({"turns": []}, name="dialog")
    assert "query_response" in FORMAT_NAMES


@dataclass
class Said:
    role: str
    content: str


class Case(BaseModel):
    input: str
    actual_output: str


@dataclass
class Talk:
    turns: list[object]


@pytest.mark.parametrize(
    "value",
    [
        Talk([Said("user", "a"), Said("assistant", "b")]),
        Talk([Case(input="a", actual_output="b")]),
        [Case(input="a", actual_output="b")],
        {"messages": [{"llm_test_case": Case(input="a", actual_output="b")}]},
        ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}),
    ],
    ids=["dataclasses", "models in one", "models", "a model in a mapping", "a tuple"],
)
def test_objects_of_other_tools_are_what_they_hold(value):
    assert shown(conversation_from(value)) == [("a", [], "b")]


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_many_messages_are_read_in_time_that_grows_with_their_number(role):
    messages = [{"role": "user", "content": "a"}] + [{"role": role, "content": f"text {n}"} for n in range(20_000)]

    conversation = conversation_from(messages)

    assert len(conversation.turns) == 1
