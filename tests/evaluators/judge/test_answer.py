import json
from random import Random

import pytest

from evaluators.conversation_completeness.answer import CompletenessAnswer
from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import UnusableAnswerError
from evaluators.judge.schema import strict_schema
from evaluators.role_adherence.answer import RoleAnswer
from evaluators.task_adherence.answer import TaskAnswer
from tests.support.malformed_answers import malformed_answers

FINE = {"reasoning": "In order.", "evidence": [], "verdict": "pass"}
ANSWER = {"injection_suspected": False, "goal": FINE, "rule": FINE, "procedure": FINE, "summary": "Fine."}
TEXT = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TEXT, id="bare"),
        pytest.param(f"\n  {TEXT}\n", id="blank around it"),
        pytest.param(f"```json\n{TEXT}\n```", id="code fence"),
        pytest.param(f"```\n{json.dumps(ANSWER, indent=1)}\n```", id="code fence without a language"),
        pytest.param(f"<think>Is it {{fine}}?\n\nYes.</think>\n{TEXT}", id="visible thinking"),
        pytest.param(f"<think>A.</think>\n<think></think> <reasoning>B.</reasoning>{TEXT}", id="thinking in blocks"),
        pytest.param(f"Is it {{fine}}? Yes.\n</think>\n\n{TEXT}", id="thinking that the template opened"),
        pytest.param(f"\ufeff{TEXT}", id="byte order mark"),
        pytest.param(f"<think>Hm.</think>\ufeff\n```json\n{TEXT}\n```\n", id="thinking, mark and fence"),
    ],
)
def test_one_object_of_the_asked_form_is_read(content):
    answer = decode_answer(content, TaskAnswer)

    assert answer.goal.verdict == "pass"
    assert answer.summary == "Fine."


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("The agent passes.", id="prose"),
        pytest.param(f"Here you are: {TEXT}", id="prose before"),
        pytest.param(f"{TEXT}\nI hope this helps.", id="prose after"),
        pytest.param(f"{TEXT}{TEXT}", id="two objects"),
        pytest.param(TEXT[:-20], id="cut"),
        pytest.param(f"[{TEXT}]", id="a list"),
        pytest.param("<think>never ends", id="thinking that does not end"),
        pytest.param(f"<think>{TEXT}", id="an answer within its thinking"),
        pytest.param(f"{TEXT}</think>It passes.", id="thinking behind an answer"),
        pytest.param(f"Hm.</think>It passes: {TEXT}", id="prose behind thinking"),
        pytest.param(TEXT.replace('"pass"', '"PASS"', 1), id="other case"),
        pytest.param(TEXT.replace('"pass"', '"maybe"', 1), id="out of vocabulary"),
        pytest.param(TEXT.replace('"pass"', "1", 1), id="number for a word"),
        pytest.param(TEXT.replace("false", '"false"', 1), id="word for a boolean"),
        pytest.param(TEXT.replace("false", "0", 1), id="number for a boolean"),
        pytest.param(TEXT.replace("false", "NaN", 1), id="no number"),
        pytest.param(TEXT.replace("[]", "null", 1), id="null for a list"),
        pytest.param(TEXT.replace("[]", '["t0.user"]', 1), id="wrong items"),
        pytest.param(TEXT.replace('"summary"', '"score": 1.0, "summary"'), id="unknown field"),
        pytest.param(TEXT.replace('"summary"', '"sumary"'), id="missing field"),
        pytest.param(TEXT.replace('"verdict"', '"verdict": "fail", "verdict"', 1), id="a key twice"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"a":' * 100_000, id="deep objects"),
        pytest.param('{"n": ' + "9" * 10_000 + "}", id="giant number"),
        pytest.param("{" + " " * 600_000 + "}", id="giant"),
    ],
)
def test_anything_else_is_refused_with_a_sentence_for_the_judge(content):
    with pytest.raises(UnusableAnswerError) as raised:
        decode_answer(content, TaskAnswer)

    assert raised.value.problem.endswith(".")
    assert len(raised.value.problem) < 400


def test_two_hundred_malformed_answers_are_all_refused():
    refused = 0
    for content in malformed_answers(TEXT, count=200, random=Random(7)):
        with pytest.raises(UnusableAnswerError):
            decode_answer(content, TaskAnswer)
        refused += 1

    assert refused == 200


@pytest.mark.parametrize("answer_type", [TaskAnswer, RoleAnswer, CompletenessAnswer], ids=lambda kind: kind.__name__)
def test_schemas_are_strict_all_the_way_down(answer_type):
    def check(schema):
        assert "$ref" not in schema
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for value in schema["properties"].values():
                check(value)
        if schema["type"] == "array":
            check(schema["items"])

    check(strict_schema(answer_type))


@pytest.mark.parametrize(
    ("answer_type", "path", "before", "after"),
    [
        (TaskAnswer, ("goal",), "reasoning", "verdict"),
        (TaskAnswer, ("goal",), "evidence", "verdict"),
        (RoleAnswer, ("turns", "items"), "reasoning", "adherent"),
        (CompletenessAnswer, ("intentions", "items"), "reasoning", "satisfied"),
    ],
    ids=str,
)
def test_reasoning_and_evidence_stand_before_the_verdict(answer_type, path, before, after):
    schema = strict_schema(answer_type)["properties"]
    for key in path:
        schema = schema[key]

    order = list(schema["properties"])

    assert order.index(before) < order.index(after)
